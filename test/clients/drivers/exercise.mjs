// What every library client does in a cell. The runner hands the cell over in the variable CELL and reads one line
// "REPORT {…}" from stdout; afterwards the process must end by itself.

/** The cell: transport (stdio, http), mode (meta, passthrough), command, args, env, url, calls. */
export const cell = JSON.parse(process.env.CELL);

/** Who the client says it is, where it can be chosen. */
export const info = { name: 'toolscout-client-matrix', version: '1.0.0' };

/** The text of a tool result, or of whatever a library makes of it. */
export function textOf(result) {
  if (typeof result === 'string') return result;
  if (Array.isArray(result)) return result.map(textOf).join('\n');
  if (typeof result?.text === 'string') return result.text;
  if (result?.content !== undefined) return textOf(result.content);
  return JSON.stringify(result);
}

/**
 * Lists, calls, closes and reports. `client` has `tools()` with `{name, inputSchema?}` entries and `call(name, args)`;
 * where the library has them also `resources()`, `templates()`, `prompts()` with names, and `instructions()`.
 */
export async function exercise(client) {
  const report = { answers: [] };
  try {
    report.tools = await client.tools();
    for (const list of ['resources', 'templates', 'prompts', 'instructions']) {
      if (client[list]) report[list] = await client[list]();
    }
    for (const { name, args } of cell.calls) {
      const shown =
        report.tools.find((tool) => tool.name === name) ?? report.tools.find((tool) => tool.name.endsWith(name));
      if (!shown) throw new Error(`The client does not list ${name}.`);
      report.answers.push(textOf(await client.call(shown.name, args)));
    }
  } catch (thrown) {
    report.problem = String(thrown?.message ?? thrown).slice(0, 1500);
  }
  try {
    await client.close();
  } catch (thrown) {
    report.problem ??= `close failed: ${thrown.message}`;
  }
  process.stdout.write(`REPORT ${JSON.stringify(report)}\n`);
}
