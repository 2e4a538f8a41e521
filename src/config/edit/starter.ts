import type { Format } from '../read/find.js';

const ABOUT_SERVERS = 'Your MCP servers, by name. "toolscout add NAME -- COMMAND ARGS…" writes one here.';
const ABOUT_PROGRAM = 'A program that toolscout starts:';
const ABOUT_ADDRESS = 'A remote server; ${VAR} is read from the environment, so that no secret stands in this file:';
const ABOUT_SOURCES = 'Servers that other clients on this machine have; "toolscout import" lists them.';
const ABOUT_RULES = 'Rules: the first one that matches a tool decides whether it is offered.';
const ABOUT_FILE = 'The config of toolscout. "toolscout config validate" checks it.';

const PACKAGE = '@modelcontextprotocol/server-filesystem';

function jsonStarter(schema: string): string {
  return `${JSON.stringify({ $schema: schema, servers: {} }, null, 2)}\n`;
}

/** Servers and what follows them, as lines of JSON with comments. */
const JSON_LINES = [
  `// ${ABOUT_SERVERS}`,
  '"servers": {',
  `  // ${ABOUT_PROGRAM}`,
  `  // "files": { "command": "npx", "args": ["-y", "${PACKAGE}", "\${HOME}/Documents"] },`,
  `  // ${ABOUT_ADDRESS}`,
  '  // "issues": { "url": "https://mcp.example.com/mcp", "headers": { "Authorization": "Bearer ${ISSUES_TOKEN}" } },',
  '},',
  '',
  `// ${ABOUT_SOURCES}`,
  '// "sources": ["claude-desktop", "cursor"],',
  '',
  `// ${ABOUT_RULES}`,
  '// "toolRules": [{ "pattern": "*delete*", "enabled": false }],',
];

const indented = (lines: readonly string[]): string[] => lines.map((line) => (line === '' ? '' : `  ${line}`));

function jsoncStarter(schema: string): string {
  return ['{', `  // ${ABOUT_FILE}`, `  "$schema": "${schema}",`, '', ...indented(JSON_LINES), '}', ''].join('\n');
}

function codeStarter(): string {
  const lines = JSON_LINES.map((line) => line.replace(/^((?:\s*\/\/)?\s*)"(\w+)":/, '$1$2:'));
  return [
    "import { defineConfig } from 'toolscout';",
    '',
    `// ${ABOUT_FILE}`,
    'export default defineConfig({',
    ...indented(lines),
    '});',
    '',
  ].join('\n');
}

function yamlStarter(schema: string): string {
  return [
    `# yaml-language-server: $schema=${schema}`,
    `# ${ABOUT_FILE}`,
    '',
    `# ${ABOUT_SERVERS}`,
    '# servers:',
    `#   # ${ABOUT_PROGRAM}`,
    '#   files:',
    '#     command: npx',
    `#     args: [-y, "${PACKAGE}", "\${HOME}/Documents"]`,
    `#   # ${ABOUT_ADDRESS}`,
    '#   issues:',
    '#     url: https://mcp.example.com/mcp',
    '#     headers: { Authorization: "Bearer ${ISSUES_TOKEN}" }',
    '',
    `# ${ABOUT_SOURCES}`,
    '# sources: [claude-desktop, cursor]',
    '',
    `# ${ABOUT_RULES}`,
    '# toolRules:',
    '#   - { pattern: "*delete*", enabled: false }',
    '',
  ].join('\n');
}

function tomlStarter(schema: string): string {
  return [
    `#:schema ${schema}`,
    `# ${ABOUT_FILE}`,
    '',
    `# ${ABOUT_SOURCES}`,
    '# sources = ["claude-desktop", "cursor"]',
    '',
    `# ${ABOUT_RULES}`,
    '# [[toolRules]]',
    '# pattern = "*delete*"',
    '# enabled = false',
    '',
    `# ${ABOUT_SERVERS}`,
    `# ${ABOUT_PROGRAM}`,
    '# [servers.files]',
    '# command = "npx"',
    `# args = ["-y", "${PACKAGE}", "\${HOME}/Documents"]`,
    `# ${ABOUT_ADDRESS}`,
    '# [servers.issues]',
    '# url = "https://mcp.example.com/mcp"',
    '# headers = { Authorization = "Bearer ${ISSUES_TOKEN}" }',
    '',
  ].join('\n');
}

/** A config to begin with: no servers, comments that say what may stand in it, and the address of its schema for editors. */
export function starterConfig(format: Format, schema: string): string {
  if (format === 'json') return jsonStarter(schema);
  if (format === 'jsonc') return jsoncStarter(schema);
  if (format === 'yaml' || format === 'yml') return yamlStarter(schema);
  return format === 'toml' ? tomlStarter(schema) : codeStarter();
}
