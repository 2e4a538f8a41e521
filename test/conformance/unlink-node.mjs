// The Node.js that the official suite needs comes from a package that also links itself as the command `node`,
// and npm puts such links before everything else: every script would run with it instead of the Node.js that
// was chosen. Run after an installation; only that link goes, the program stays where the suite finds it.
import { readlinkSync, unlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const link = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url));
try {
  if (readlinkSync(link).includes('node-linux-')) unlinkSync(link);
} catch (thrown) {
  // No link, nothing to do.
  if (thrown.code !== 'ENOENT') throw thrown;
}
