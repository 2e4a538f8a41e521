import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/support/fixture.js';
import { readCorpus } from '../../test/support/recorded-servers.js';
import { stdioServer } from '../../test/support/test-server.js';
import { COMPUTES_LONG } from '../../test/support/patience.js';
import { repetitions } from '../../test/support/long-form.js';
import { Manifest } from '../model/manifest.js';
import { compileRules, normalizeTool } from '../normalize/index.js';
import { exportText, writeRtfs } from './export.js';
import { shapeOf } from './read-schema.js';
import { readRtfs } from './rtfs/read-rtfs.js';
import { sectionOf, type Section } from './section.js';
import { rtfsFile } from './rtfs/write-rtfs.js';

const RULES = compileRules([]);

const sections = readCorpus().map(({ id, tools }): Section => {
  const server = stdioServer(id, { command: 'npx', args: ['-y', id] });
  return sectionOf(
    server,
    tools.map((tool) => normalizeTool(server, tool, RULES)),
  );
});
const manifests = sections.flatMap(({ tools }) => tools.map(({ manifest }) => manifest));
/** All of them in the long form. */
const sampled = manifests.filter((_, at) => at % repetitions(6, 1) === 0);

describe('the tools of real servers', () => {
  it('SCH-1 SCH-2 SCH-7 convert to RTFS, are read back as the same, and have valid manifests', COMPUTES_LONG, () => {
    expect(manifests.length).toBeGreaterThan(3000);
    for (const manifest of sampled) {
      expect(Manifest.safeParse(manifest).error).toBeUndefined();
      for (const dialect of ['standard', 'ccos'] as const) {
        const text = rtfsFile(manifest, dialect);
        const read = readRtfs(text);
        expect(rtfsFile(read, dialect)).toBe(text);
        expect(shapeOf(read.inputSchema)).toEqual(shapeOf(manifest.inputSchema));
        expect(shapeOf(read.outputSchema)).toEqual(shapeOf(manifest.outputSchema));
        expect(read).toMatchObject({
          id: manifest.id,
          description: manifest.description,
          provider: manifest.provider,
        });
        expect(Manifest.safeParse(read).error).toBeUndefined();
      }
    }
  });

  it('SCH-3 each has a file of its own, beside that of its server', COMPUTES_LONG, async () => {
    const directory = await temporaryDirectory();
    const { written } = await writeRtfs(directory, sections);
    expect(written).toBe(manifests.length + sections.length);
    const files = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.rtfs'));
    expect(files).toHaveLength(written);
    const { server, tools } = sections[0]!;
    const one = await readFile(join(directory, server.id.replace(/[A-Z]/g, '+$&'), 'server.rtfs'), 'utf8');
    expect(one).toContain(`:capabilities [`);
    expect(one).toContain(tools[0]!.manifest.id);
  });

  it('SCH-8 the JSON of all of them holds the same manifests', () => {
    const { servers } = JSON.parse(exportText('json', sections)) as {
      servers: Array<{ id: string; tools: unknown[] }>;
    };
    expect(servers.flatMap(({ tools }) => tools)).toEqual(JSON.parse(JSON.stringify(manifests)));
  });
});
