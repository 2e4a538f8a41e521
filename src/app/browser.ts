import { spawn } from 'node:child_process';
import { CHILD_VARIABLE } from '../protocol/child-mark.js';

/** The program that shows an address in the browser, and its arguments; nothing of it is read by a shell (S17). */
export function browserCommand(platform: NodeJS.Platform, url: string): { command: string; args: string[] } {
  if (platform === 'darwin') return { command: 'open', args: [url] };
  if (platform === 'win32') return { command: 'rundll32', args: ['url.dll,FileProtocolHandler', url] };
  return { command: 'xdg-open', args: [url] };
}

/** Opens an address in the browser; rejects when no program for that can be started. */
export function openBrowser(url: string): Promise<void> {
  if (!/^https?:\/\//.test(url)) return Promise.reject(new Error('not a web address'));
  const { command, args } = browserCommand(process.platform, url);
  // A browser stays open when a toolscout in front of this one ends.
  const { [CHILD_VARIABLE]: _mark, ...env } = process.env;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'ignore', shell: false, detached: true, env });
    child.once('error', reject);
    child.once('spawn', () => {
      child.unref();
      resolve();
    });
  });
}
