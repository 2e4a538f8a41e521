import { describe, expect, it } from 'vitest';
import { browserCommand, openBrowser } from './browser.js';

describe('opening the browser', () => {
  it.each(['linux', 'freebsd', 'darwin', 'win32'] as const)(
    'S17 A6 on %s the address is one argument of a program that is no shell',
    (platform) => {
      const url = 'https://login.example/$(touch x)?a=1&b=2';
      const { command, args } = browserCommand(platform, url);
      expect(args.at(-1)).toBe(url);
      expect(['xdg-open', 'open', 'rundll32']).toContain(command);
    },
  );

  it.each(['file:///etc/passwd', 'javascript:alert(1)', '--help', ' https://x', 'data:,x'])(
    'S17 what is no web address is never handed to a program: %s',
    async (url) => {
      await expect(openBrowser(url)).rejects.toThrow('not a web address');
    },
  );
});
