// What `npm test` checks before the tests, side by side: npm run check. A step that fails prints what it said.
import { spawn } from 'node:child_process';

/** Steps that need nothing of each other; those of one lane follow one another. */
const LANES = [['types'], ['build', 'publish:check'], ['lint', 'format:check', 'unused']];

/** Runs a script of package.json; answers what it said, when it failed. */
function run(script: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const said: Buffer[] = [];
    const child = spawn('npm', ['run', '--silent', script], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.on('data', (chunk: Buffer) => said.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => resolve(code === 0 ? undefined : Buffer.concat(said).toString()));
  });
}

/** Runs the steps of a lane until one fails; answers whether none did. */
async function follow(lane: readonly string[]): Promise<boolean> {
  for (const script of lane) {
    const said = await run(script);
    if (said === undefined) continue;
    process.stderr.write(`npm run ${script} failed:\n${said}\n`);
    return false;
  }
  return true;
}

const ends = await Promise.all(LANES.map(follow));
if (ends.includes(false)) process.exitCode = 1;
