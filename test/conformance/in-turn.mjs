// Runs a module when it is its turn: node in-turn.mjs FOLDER MODULE …
// The suite starts every client at once; on a small machine they would all be too slow to be judged. A few run at a
// time, each holding a folder of its own as its place.
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const PLACES = 3;
/** A place whose holder was killed is never given back; nobody waits for it longer than this. */
const PATIENCE_MS = 90_000;

const [folder, module] = process.argv.slice(2);

function take(place) {
  try {
    mkdirSync(place);
  } catch (thrown) {
    if (thrown.code !== 'EEXIST') throw thrown;
    return false;
  }
  process.on('exit', () => rmdirSync(place));
  return true;
}

const deadline = performance.now() + PATIENCE_MS;
const places = Array.from({ length: PLACES }, (_, index) => join(folder, `place-${index}`));
while (!places.some(take) && performance.now() < deadline) await delay(50);
await import(pathToFileURL(module).href);
