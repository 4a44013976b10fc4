//! What lies over the tab, as a stack: at most one of a diff and a discussion board, a long text in front of it, then the
//! search bar and the palette. The topmost layer gets the key.
//!
//! A new layer is a type with its [`ScreenOverlay`], and what opens it calls [`OverlayStack::open`].

mod screen_overlay;

use std::any::Any;

use ratatui::layout::Rect;

use super::command_palette::CommandPalette;
use super::dialog::ChoiceDialog;
use super::keymap::ComposerFocus;
use super::pager::TextPager;
use super::theme::ColorTheme;
use super::transcript::ChatTranscript;
pub use screen_overlay::{
    LayerContext, LayerPlace, LayerResponse, MAX_OVERLAY_HINTS, ScreenOverlay, WHEEL_LINES,
};

/// The layers over the tab, the last one in front.
#[derive(Debug, Default)]
pub struct OverlayStack {
    layers: Vec<Box<dyn ScreenOverlay>>,
}

impl OverlayStack {
    /// Opens a layer at its place, instead of one that is there. What takes the whole height replaces the texts, too.
    pub fn open(&mut self, layer: impl ScreenOverlay) {
        let place = layer.place();
        let is_whole = place == LayerPlace::WholeHeight;
        self.layers.retain(|old| {
            let old = old.place();
            old != place && !(is_whole && old.covers_tab())
        });
        let at = self.layers.partition_point(|old| old.place() < place);
        self.layers.insert(at, Box::new(layer));
    }

    /// Returns the open layer of a type.
    pub fn find<T: ScreenOverlay>(&self) -> Option<&T> {
        let mut layers = self.layers.iter();
        layers.find_map(|layer| (layer.as_ref() as &dyn Any).downcast_ref())
    }

    /// Returns the open layer of a type, to change it.
    pub fn find_mut<T: ScreenOverlay>(&mut self) -> Option<&mut T> {
        let mut layers = self.layers.iter_mut();
        layers.find_map(|layer| (layer.as_mut() as &mut dyn Any).downcast_mut())
    }

    /// Returns whether a layer of a type is open.
    pub fn has<T: ScreenOverlay>(&self) -> bool {
        self.find::<T>().is_some()
    }

    /// Closes the layer of a type; returns whether it was open.
    pub fn close<T: ScreenOverlay>(&mut self) -> bool {
        let n_before = self.layers.len();
        let is_other = |layer: &dyn ScreenOverlay| !(layer as &dyn Any).is::<T>();
        self.layers.retain(|layer| is_other(layer.as_ref()));
        self.layers.len() < n_before
    }

    /// Closes the layer at a place.
    pub fn close_at(&mut self, place: LayerPlace) {
        self.layers.retain(|layer| layer.place() != place);
    }

    /// Closes what belongs to a dialog that is not open any more.
    pub fn close_stale(&mut self, waiting: Option<&ChoiceDialog>) {
        self.layers.retain(|layer| !layer.is_stale(waiting));
    }

    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    pub fn len(&self) -> usize {
        self.layers.len()
    }

    /// Returns the number of the layer at a place, counted from below.
    pub fn position(&self, place: LayerPlace) -> Option<usize> {
        self.layers.iter().position(|layer| layer.place() == place)
    }

    /// Returns whether there is a layer at a place.
    pub fn has_place(&self, place: LayerPlace) -> bool {
        self.position(place).is_some()
    }

    /// Returns the layers, the topmost first.
    pub fn top_down(&self) -> impl Iterator<Item = &dyn ScreenOverlay> {
        self.layers.iter().rev().map(AsRef::as_ref)
    }

    /// Returns the layers, to change them, the topmost first.
    pub fn top_down_mut(&mut self) -> impl Iterator<Item = &mut Box<dyn ScreenOverlay>> {
        self.layers.iter_mut().rev()
    }

    /// Returns the view that covers the tab; the search bar and the palette cover nothing.
    pub fn view(&self) -> Option<&dyn ScreenOverlay> {
        self.top_down().find(|layer| layer.place().covers_tab())
    }

    /// Returns whether anything covers the tab.
    pub fn covers_tab(&self) -> bool {
        self.view().is_some()
    }

    /// Returns whether the view in front takes the place of the composer and the dialog.
    pub fn takes_whole_height(&self) -> bool {
        let place = self.view().map(ScreenOverlay::place);
        place == Some(LayerPlace::WholeHeight)
    }

    /// Returns whether the view in front is of a type.
    pub fn is_in_front<T: ScreenOverlay>(&self) -> bool {
        self.view().is_some_and(|view| (view as &dyn Any).is::<T>())
    }

    /// Returns the layer that gets the keys. While the user writes beside a long text, it is the composer that gets them.
    pub fn key_layer(&self, focus: ComposerFocus) -> Option<&dyn ScreenOverlay> {
        let is_writing = focus == ComposerFocus::Focused;
        let takes_keys =
            |layer: &&dyn ScreenOverlay| !(is_writing && layer.place() == LayerPlace::Tab);
        self.top_down().next().filter(takes_keys)
    }

    /// Calls a layer with a view of the screen and of what lies behind it; `n` counts from below.
    pub fn with_layer<R>(
        &mut self,
        n: usize,
        context: &LayerContext<'_>,
        call: impl FnOnce(&mut dyn ScreenOverlay, &LayerContext<'_>) -> R,
    ) -> Option<R> {
        let (below, from_here) = self.layers.split_at_mut_checked(n)?;
        let layer = from_here.first_mut()?;
        Some(call(layer.as_mut(), &LayerContext { below, ..*context }))
    }

    /// Closes a layer; `n` counts from below.
    pub fn remove(&mut self, n: usize) {
        if n < self.layers.len() {
            self.layers.remove(n);
        }
    }

    /// Returns where the last frame showed what lies over a part of the window.
    pub fn window_area(&self) -> Option<Rect> {
        self.top_down().find_map(ScreenOverlay::window_area)
    }

    /// Returns the theme that is shown only because the palette is at its entry.
    pub fn previewed_theme(&self) -> Option<&ColorTheme> {
        self.find().and_then(CommandPalette::previewed_theme)
    }

    /// Returns the transcript in front: that of the open child's session, otherwise the chat's.
    pub fn front_transcript<'a>(
        &'a mut self,
        chat: &'a mut ChatTranscript,
    ) -> &'a mut ChatTranscript {
        let child = self.find_mut().and_then(TextPager::child_mut);
        child.map_or(chat, |child| &mut child.transcript)
    }
}
