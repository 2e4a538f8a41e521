import type { JsonObject } from '../../api/types.js';

/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** One call in four languages. */
export function copiesOf(
  server: string,
  tool: string,
  args: JsonObject,
  origin: string,
): Readonly<Record<'cli' | 'curl' | 'typescript' | 'mcp', string>> {
  const compact = JSON.stringify(args);
  const body = JSON.stringify({ server, tool, arguments: args });
  return {
    cli: `toolscout call ${shellWord(`${server}:${tool}`)} --args ${shellWord(compact)}`,
    curl: `curl -s ${origin}/v1/call \\\n  -H 'content-type: application/json' \\\n  -d ${shellWord(body)}`,
    typescript: [
      `import { createToolscout } from 'toolscout';`,
      '',
      'const toolscout = await createToolscout();',
      `const answer = await toolscout.call(${JSON.stringify(server)}, ${JSON.stringify(tool)}, ${JSON.stringify(args, null, 2)});`,
      'console.log(answer);',
      'await toolscout.close();',
    ].join('\n'),
    mcp: JSON.stringify(
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'execute_tool', arguments: { server, tool, arguments: args } },
      },
      null,
      2,
    ),
  };
}
