import type { JsonObject } from '../../api/types.js';
import { flagsFor, shellWord, type OwnFlags } from '../../text/commands.js';

/** One call in four languages. */
export function copiesOf(
  server: string,
  tool: string,
  args: JsonObject,
  { origin, required, ...flags }: OwnFlags & { readonly origin: string; readonly required?: boolean },
): Readonly<Record<'cli' | 'curl' | 'typescript' | 'mcp', string>> {
  const compact = JSON.stringify(args);
  const body = JSON.stringify({ server, tool, arguments: args });
  const { config, stateDir, demo } = flags;
  const given = JSON.stringify({ config, demo, stateDir });
  // A key stands in no history of a shell.
  const key = required ? ` \\\n  -H "authorization: Bearer $TOOLSCOUT_KEY"` : '';
  return {
    cli: [
      `npx toolscout call ${shellWord(`${server}:${tool}`)} --args ${shellWord(compact)}`,
      ...flagsFor('call', flags),
    ].join(' \\\n  '),
    curl: `curl -s ${origin}/v1/call${key} \\\n  -H 'content-type: application/json' \\\n  -d ${shellWord(body)}`,
    typescript: [
      `import { createToolscout } from 'toolscout';`,
      '',
      `const toolscout = await createToolscout(${given === '{}' ? '' : given});`,
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
