"""The Python SDK 2.x; ERA=legacy has it open as a 2025-era client, ERA=auto as one of 2026-07-28."""

import asyncio
import os

from exercise import cell, exercise
from mcp import Client, StdioServerParameters


class Adapter:
    def __init__(self, client):
        self.client = client

    async def tools(self):
        listed = (await self.client.list_tools()).tools
        return [{"name": tool.name, "inputSchema": tool.input_schema} for tool in listed]

    async def resources(self):
        return [str(each.uri) for each in (await self.client.list_resources()).resources]

    async def templates(self):
        listed = (await self.client.list_resource_templates()).resource_templates
        return [each.uri_template for each in listed]

    async def prompts(self):
        return [each.name for each in (await self.client.list_prompts()).prompts]

    async def instructions(self):
        return self.client.instructions

    async def call(self, name, args):
        return await self.client.call_tool(name, args)


def server():
    if cell["transport"] == "http":
        return cell["url"]
    return StdioServerParameters(command=cell["command"], args=cell["args"], env=dict(os.environ))


async def main():
    async with Client(server(), mode=os.environ["ERA"]) as client:
        await exercise(Adapter(client))


asyncio.run(main())
