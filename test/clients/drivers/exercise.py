"""What every Python client does in a cell: the same as exercise.mjs, over the same variable and report."""

import json
import os
import sys

cell = json.loads(os.environ["CELL"])


def text_of(result):
    """The text of a tool result, or of whatever a library makes of it."""
    if isinstance(result, str):
        return result
    if isinstance(result, (list, tuple)):
        return "\n".join(text_of(each) for each in result)
    if isinstance(result, dict):
        return result.get("text") or json.dumps(result)
    return getattr(result, "text", None) or text_of(getattr(result, "content", None) or str(result))


async def exercise(client):
    """Lists, calls and reports; the caller closes. `client` has async tools() and call(name, args)."""
    report = {"answers": []}
    try:
        report["tools"] = await client.tools()
        for name in ("resources", "templates", "prompts", "instructions"):
            if hasattr(client, name):
                report[name] = await getattr(client, name)()
        names = [tool["name"] for tool in report["tools"]]
        for step in cell["calls"]:
            shown = [name for name in names if name.endswith(step["name"])]
            if not shown:
                raise RuntimeError(f"The client does not list {step['name']}.")
            report["answers"].append(text_of(await client.call(shown[0], step["args"])))
    except Exception as thrown:  # The runner reports whatever a library throws.
        report["problem"] = f"{type(thrown).__name__}: {thrown}"[:1500]
    sys.stdout.write(f"REPORT {json.dumps(report)}\n")
    sys.stdout.flush()
