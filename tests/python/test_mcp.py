import io
import json
from pathlib import Path

import pytest
from bankwise import mcp


def ask(folder: Path, *requests: object) -> list[dict]:
    lines = [request if isinstance(request, str) else json.dumps(request) for request in requests]
    answers = io.StringIO()
    mcp.serve(folder, io.StringIO("\n".join(lines)), answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def call(folder: Path, tool: str, **arguments: object) -> tuple[str, bool]:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    (answer,) = ask(folder, request)
    return answer["result"]["content"][0]["text"], answer["result"]["isError"]


def test_handshake(tmp_path: Path) -> None:
    answers = ask(
        tmp_path,
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": mcp.PROTOCOL}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "a", "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 2, "method": "ping"},
    )
    assert [answer["id"] for answer in answers] == [0, "a", 2]
    assert answers[0]["result"]["serverInfo"]["name"] == "bankwise"
    tools = {tool["name"]: tool for tool in answers[1]["result"]["tools"]}
    assert set(tools) == {"predict", "explain", "check", "fit"}
    assert tools["predict"]["annotations"]["readOnlyHint"] and not tools["check"]["annotations"]["readOnlyHint"]


def test_bad_requests(tmp_path: Path) -> None:
    answers = ask(tmp_path, "{", "[]", {"id": 1}, {"id": 2, "method": "resources/list"}, {"id": 3, "method": "ping"})
    assert [answer.get("error", {}).get("code") for answer in answers] == [-32700, -32600, -32600, -32601, None]


def test_predict(tmp_path: Path) -> None:
    text, failed = call(tmp_path, "predict", index="tile[tid][0]", array="float tile[N][N]", let={"N": 32})
    assert not failed and json.loads(text)["passes"] == 32
    assert "pass 1" in call(tmp_path, "explain", index="2*tid")[0]


def test_check_and_fit(tmp_path: Path, conflict: str, trace: Path) -> None:
    (tmp_path / "conflict.cu").write_text(conflict)
    text, failed = call(tmp_path, "check", checker="emulate", files=["conflict.cu"], trace="trace.jsonl")
    assert not failed and json.loads(text)["kernels"][0]["architectures"][0]["conflicts"] == 992
    text, failed = call(tmp_path, "fit", trace=".bankwise/trace.jsonl")
    assert not failed and json.loads(text)["kernels"][0]["fit"]["arrays"][0]["passes_after"] == 64


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("check", {"checker": "emulate", "files": ["../outside.cu"]}, "is not in"),
        ("check", {"checker": "cuda", "files": ["/bin/ls"]}, "is not in"),
        ("check", {"checker": "emulate", "files": ["a.cu"], "trace": "../a"}, "not the name of a file"),
        ("check", {"checker": "shell", "files": ["a.cu"]}, "checkers are"),
        ("check", {"checker": "emulate", "files": []}, "no program"),
        ("fit", {"trace": "link"}, "is not in"),
        ("fit", {}, "needs trace"),
        ("predict", {"index": "tid", "svg": "file"}, "does not take svg"),
        ("predict", {"index": "tid +"}, "--index"),
        ("none", {}, "no tool"),
    ],
)
def test_refusals(tmp_path: Path, conflict: str, tool: str, arguments: dict, sentence: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "outside.cu").write_text(conflict)
    (folder / "a.cu").write_text(conflict)
    (folder / "link").symlink_to(tmp_path / "outside.cu")
    text, failed = call(folder, tool, **arguments)
    assert failed and sentence in text
