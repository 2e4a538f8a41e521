import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { sha256 } from '../kernel/hash.js';
import type { StdioTransport } from '../model/server.js';

/** A larger file is no script; only where it really lies is noted then. */
const MAX_BYTES = 4 * 1024 * 1024;

const SCRIPTS = new Set(
  '.js .mjs .cjs .ts .mts .cts .jsx .tsx .py .rb .pl .php .sh .bash .zsh .ps1 .bat .cmd .lua'.split(' '),
);

function readScript(path: string): string | undefined {
  const { size } = statSync(path);
  if (size > MAX_BYTES) return undefined;
  const bytes = readFileSync(path);
  const isScript = SCRIPTS.has(extname(path).toLowerCase()) || bytes.subarray(0, 2).toString('latin1') === '#!';
  return isScript ? sha256(bytes.toString('latin1')) : undefined;
}

/**
 * The scripts that a command names as its program or as an argument: where each really lies, and what is in it. A link that
 * leads elsewhere and a script that was rewritten make it another launch (A42). What scripts load is not looked at.
 */
export function scriptsOf({ command, args, cwd }: StdioTransport): string[][] {
  const words = [...(/[/\\]/.test(command) ? [command] : []), ...args.filter((arg) => !arg.startsWith('-'))];
  const found: string[][] = [];
  for (const word of words) {
    try {
      const path = resolve(cwd ?? '.', word);
      if (!lstatSync(path, { throwIfNoEntry: false })) continue;
      const real = realpathSync(path);
      if (!statSync(real).isFile()) continue;
      const sum = readScript(real);
      if (sum !== undefined) found.push([word, real, sum]);
      else if (real !== path) found.push([word, real]);
    } catch (thrown) {
      // Not a file that this user can read, so it is none that can be compared.
      found.push([word, thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unreadable']);
    }
  }
  return found;
}
