#!/usr/bin/env python3
"""Makes the burst out of gen_events.py claude-partial: same events, but its last text stands in a message of
its own that is begun, finished and ended, as the real CLI does. usage: fixture.py RAW OUT"""
import json, sys
lines = open(sys.argv[1], "rb").read().splitlines(keepends=True)
body, (_delta, result) = lines[:-2], lines[-2:]
# the generator may stop in the middle of a message: leave its pieces out
last = max(i for i, l in enumerate(body) if b'"message_stop"' in l)
body = body[:last + 1]
sid = json.loads(body[0])["session_id"]
enc = lambda v: json.dumps(v, separators=(",", ":")).encode() + b"\n"
ev = lambda e: enc({"type": "stream_event", "event": e, "session_id": sid, "parent_tool_use_id": None, "uuid": "e"})
msg = {"model": "claude-sonnet-4-5", "id": "msg_last", "type": "message", "role": "assistant", "content": [], "stop_reason": None}
end = [ev({"type": "message_start", "message": msg}),
       ev({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
       ev({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "\nSTREAM-DONE"}}),
       enc({"type": "assistant", "message": {**msg, "content": [{"type": "text", "text": "\nSTREAM-DONE"}]},
            "parent_tool_use_id": None, "session_id": sid, "uuid": "x"}),
       ev({"type": "content_block_stop", "index": 0}),
       ev({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
       ev({"type": "message_stop"}), result]
open(sys.argv[2], "wb").write(b"".join(body + end))
print(len(body) + len(end), "events")
