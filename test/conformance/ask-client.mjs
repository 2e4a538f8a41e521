// What the suite starts for each scenario: node ask-client.mjs SOCKET … ADDRESS
// The client itself is loaded once, in the process that listens there; this one hands it the scenario, prints its log and ends as it says.
import { createConnection } from 'node:net';

const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
process.exitCode = 1;
const connection = createConnection(process.argv[2]);
connection.end(JSON.stringify({ url: process.argv.at(-1), scenario, context: JSON.parse(context) }));
let last = '';
connection.setEncoding('utf8').on('data', (text) => {
  process.stderr.write(text);
  last = (last + text).slice(-16);
});
connection.on('end', () => {
  if (last.endsWith('\nend: good\n')) process.exitCode = 0;
});
