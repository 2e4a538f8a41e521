import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { Config } from '../src/model/config.js';

type Schema = Record<string, unknown> & { properties?: Record<string, Schema>; additionalProperties?: unknown };

/** What the page about the config says of each field, by the first heading above its table and its path. */
function descriptions(page: string): Map<string, string> {
  const found = new Map<string, string>();
  let heading = '';
  for (const line of page.split('\n')) {
    if (line.startsWith('#')) heading = line.replace(/^#+\s*/, '');
    const [, field, ...rest] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const path = field === undefined ? undefined : /^`([\w.$-]+)`$/.exec(field)?.[1];
    const text = rest.at(-2) ?? '';
    const key = `${heading} ${path}`;
    if (path === undefined || text === '' || found.has(key)) continue;
    found.set(key, text.replace(/\[([^\]]*)\]\([^)]*\)/g, 'docs/$1').replaceAll('\\|', '|'));
  }
  return found;
}

function describeFields(
  schema: Schema | undefined,
  texts: ReadonlyMap<string, string>,
  heading: string,
  base = '',
): void {
  for (const [name, field] of Object.entries(schema?.properties ?? {})) {
    const path = `${base}${name}`;
    const text = texts.get(`${heading} ${path}`);
    if (text !== undefined) field['description'] = text;
    describeFields(field, texts, heading, `${path}.`);
  }
}

const page = descriptions(readFileSync('docs/configuration.md', 'utf8'));
const { $schema, properties = {}, ...rest } = z.toJSONSchema(Config, { target: 'draft-7', io: 'input' }) as Schema;
const shape: Schema = { properties };
for (const heading of ['Fields', 'Servers without a handshake']) describeFields(shape, page, heading);
describeFields(properties['servers']?.additionalProperties as Schema, page, 'A server');

const schema = {
  $schema,
  title: 'toolscout config',
  ...rest,
  properties: {
    $schema: { type: 'string', description: 'The address of this schema, for editors.' },
    discovery: {
      type: 'object',
      description: 'Any field may stand in here instead of at the top.',
      properties: Object.fromEntries(Object.keys(properties).map((name) => [name, { $ref: `#/properties/${name}` }])),
      additionalProperties: false,
    },
    ...properties,
  },
};
mkdirSync('dist/schemas', { recursive: true });
writeFileSync('dist/schemas/config.json', `${JSON.stringify(schema, null, 2)}\n`);
