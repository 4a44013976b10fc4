//! A fake model server on loopback for both vendors: `POST /v1/responses` and `POST /v1/messages`.
//!
//! It counts and stores every request, asks the scenario's brain for the answer and streams it.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use script::{Reply, Request, Vendor};

mod anthropic;
mod openai;
pub mod script;

/// The scenario's function from request to answer.
type Brain = dyn Fn(&Request) -> Reply + Send + Sync;

/// One piece of a streamed answer.
#[derive(Debug, Clone)]
pub enum Chunk {
    Bytes(String),
    /// Sends nothing for so long.
    Silence(Duration),
    Break,
}

/// A request as it came in.
#[derive(Debug, Clone)]
pub struct Recorded {
    pub vendor: Vendor,
    /// The `User-Agent` header: name and version of the CLI as it reports them.
    pub user_agent: String,
    /// The whole body as text.
    pub body: String,
}

/// The running server; it ends with this value.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    runtime: Option<Runtime>,
}

struct Shared {
    brain: Box<Brain>,
    requests: Mutex<Vec<Recorded>>,
    strays: Mutex<Vec<String>>,
}

impl ModelServer {
    /// Starts a server whose answers are the brain's.
    pub fn start(brain: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> ModelServer {
        let shared = Arc::new(Shared {
            brain: Box::new(brain),
            requests: Mutex::default(),
            strays: Mutex::default(),
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime for the model server");
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .expect("a free port on loopback");
        let address = listener.local_addr().expect("the server's own address");
        let router = Router::new()
            .fallback(serve)
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&shared));
        runtime.spawn(async move { axum::serve(listener, router).await });
        ModelServer {
            address,
            shared,
            runtime: Some(runtime),
        }
    }

    /// The URL of the server's root, without a slash at its end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Counts the model requests of one CLI, retries included.
    pub fn n_requests(&self, vendor: Vendor) -> usize {
        self.requests(vendor).len()
    }

    /// The bodies of all model requests of one CLI.
    pub fn bodies(&self, vendor: Vendor) -> Vec<String> {
        self.requests(vendor)
            .into_iter()
            .map(|request| request.body)
            .collect()
    }

    /// All model requests of one CLI.
    pub fn requests(&self, vendor: Vendor) -> Vec<Recorded> {
        let requests = self
            .shared
            .requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        requests
            .iter()
            .filter(|request| request.vendor == vendor)
            .cloned()
            .collect()
    }

    /// Requests that are none to a model: a CLI that phones somewhere unexpected.
    pub fn strays(&self) -> Vec<String> {
        self.shared
            .strays
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn serve(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let vendor = match uri.path() {
        "/v1/responses" => Vendor::Openai,
        "/v1/messages" => Vendor::Anthropic,
        "/v1/messages/count_tokens" => {
            return json_response(StatusCode::OK, &json!({"input_tokens": 1000}));
        }
        _ => return stray(&shared, &uri, &headers),
    };
    let text = String::from_utf8_lossy(&body).into_owned();
    let Ok(body) = serde_json::from_str::<Value>(&text) else {
        return stray(&shared, &uri, &headers);
    };
    let user_agent = user_agent(&headers);
    let n = shared.record(Recorded {
        vendor,
        user_agent,
        body: text,
    });
    let request = match vendor {
        Vendor::Openai => openai::parse_request(n, body),
        Vendor::Anthropic => anthropic::parse_request(n, body),
    };
    let reply = (shared.brain)(&request);
    answer(&request, &reply)
}

impl Shared {
    /// Stores a request and returns its number among those of its vendor, from 1.
    fn record(&self, request: Recorded) -> usize {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let vendor = request.vendor;
        requests.push(request);
        requests
            .iter()
            .filter(|request| request.vendor == vendor)
            .count()
    }
}

fn user_agent(headers: &HeaderMap) -> String {
    headers
        .get("user-agent")
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .unwrap_or_default()
}

fn stray(shared: &Shared, uri: &Uri, headers: &HeaderMap) -> Response {
    let mut strays = shared.strays.lock().unwrap_or_else(PoisonError::into_inner);
    strays.push(format!("{uri} {}", user_agent(headers)));
    json_response(
        StatusCode::NOT_FOUND,
        &json!({"error": {"type": "not_found_error", "message": "no such thing here"}}),
    )
}

fn answer(request: &Request, reply: &Reply) -> Response {
    if let Reply::UsedUp { resets_in } = reply {
        return used_up(request.vendor, *resets_in);
    }
    if let Reply::Refuse {
        status,
        headers,
        message,
    } = reply
    {
        let body = match request.vendor {
            Vendor::Openai => openai::error_body(*status, message),
            Vendor::Anthropic => anthropic::error_body(*status, message),
        };
        let status = StatusCode::from_u16(*status).expect("a scenario's HTTP status");
        let mut response = json_response(status, &body);
        for (name, value) in headers {
            response
                .headers_mut()
                .insert(*name, value.parse().expect("a scenario's HTTP header"));
        }
        return response;
    }
    match request.vendor {
        Vendor::Openai => streamed(openai::stream(request, reply)),
        Vendor::Anthropic if request.body["stream"] == true => {
            streamed(anthropic::stream(request, reply))
        }
        Vendor::Anthropic => json_response(StatusCode::OK, &anthropic::whole(request, reply)),
    }
}

/// Turns a request away because the plan is used up for so many seconds more.
fn used_up(vendor: Vendor, resets_in: u64) -> Response {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let resets_at = now.expect("a clock after 1970").as_secs() + resets_in;
    let (headers, body) = match vendor {
        Vendor::Openai => openai::used_up(resets_at),
        Vendor::Anthropic => anthropic::used_up(resets_at),
    };
    let mut response = json_response(StatusCode::TOO_MANY_REQUESTS, &body);
    for (name, value) in headers {
        let value = value.parse().expect("an HTTP header");
        response.headers_mut().insert(name, value);
    }
    response
}

fn json_response(status: StatusCode, body: &Value) -> Response {
    let response = Response::builder()
        .status(status)
        .header("content-type", "application/json");
    response
        .body(Body::from(body.to_string()))
        .expect("a response of known parts")
}

/// Sends the chunks one by one, so that the CLI sees pieces, pauses and breaks as they happen.
fn streamed(chunks: Vec<Chunk>) -> Response {
    let stream = futures_util::stream::unfold(VecDeque::from(chunks), |mut chunks| async move {
        loop {
            match chunks.pop_front()? {
                Chunk::Bytes(bytes) => return Some((Ok(Bytes::from(bytes)), chunks)),
                Chunk::Silence(pause) => tokio::time::sleep(pause).await,
                Chunk::Break => {
                    // What was sent before must reach the CLI before the connection goes.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    chunks.clear();
                    return Some((Err(io::Error::from(io::ErrorKind::ConnectionReset)), chunks));
                }
            }
        }
    });
    let response = Response::builder()
        .status(StatusCode::OK)
        .header("content-type", "text/event-stream");
    response
        .body(Body::from_stream(stream))
        .expect("a response of known parts")
}

/// Cuts a text into pieces as a model streams them; a huge text into few large ones.
fn pieces(text: &str) -> Vec<String> {
    let size = (text.len() / 64).max(24);
    let mut pieces = vec![String::new()];
    for character in text.chars() {
        match pieces.last_mut() {
            Some(piece) if piece.len() < size => piece.push(character),
            Some(_) | None => pieces.push(character.to_string()),
        }
    }
    pieces
}
