"""The client of FastMCP."""

import asyncio
import os

from exercise import cell, exercise
from fastmcp import Client


class Adapter:
    def __init__(self, client):
        self.client = client

    async def tools(self):
        return [{"name": tool.name, "inputSchema": tool.inputSchema} for tool in await self.client.list_tools()]

    async def resources(self):
        return [str(each.uri) for each in await self.client.list_resources()]

    async def prompts(self):
        return [each.name for each in await self.client.list_prompts()]

    async def call(self, name, args):
        return await self.client.call_tool(name, args)


def server():
    if cell["transport"] == "http":
        return {"transport": "http", "url": cell["url"]}
    return {"command": cell["command"], "args": cell["args"], "env": dict(os.environ)}


async def main():
    async with Client({"mcpServers": {"toolscout": server()}}) as client:
        await exercise(Adapter(client))


asyncio.run(main())
