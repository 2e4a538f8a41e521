import { describe, expect, it } from 'vitest';
import type { ToolscoutError } from '../kernel/errors.js';
import { requirePublic, type Lookup } from './public-address.js';

const to =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses;

describe('a URL that a caller names', () => {
  it('A19 passes when it leads to the public network alone', async () => {
    expect((await requirePublic('https://tools.example/mcp', to('93.184.216.34'))).href).toBe(
      'https://tools.example/mcp',
    );
    expect((await requirePublic('https://93.184.216.34/', to())).hostname).toBe('93.184.216.34');
  });

  it.each([
    ['https://tools.example/', to('10.0.0.1'), 'FORBIDDEN'],
    ['https://tools.example/', to('93.184.216.34', '127.0.0.1'), 'FORBIDDEN'],
    ['https://tools.example/', to(), 'FORBIDDEN'],
    ['https://127.0.0.1/', to('93.184.216.34'), 'FORBIDDEN'],
    ['https://[::1]/', to('93.184.216.34'), 'FORBIDDEN'],
    ['http://tools.example/', to('93.184.216.34'), 'FORBIDDEN'],
    ['https://user@tools.example/', to('93.184.216.34'), 'FORBIDDEN'],
    ['https://:secret@tools.example/', to('93.184.216.34'), 'FORBIDDEN'],
    ['tools.example', to('93.184.216.34'), 'INVALID_REQUEST'],
    ['https://tools.example/', () => Promise.reject(new Error('ENOTFOUND')), 'SERVER_CONNECTION_ERROR'],
  ])('A19 %s is refused otherwise', async (url, lookup, code) => {
    const asked = requirePublic(url, lookup);
    await expect(asked).rejects.toMatchObject({ code });
    await expect(asked).rejects.not.toThrow('secret');
    // Nothing has been sent anywhere.
    if (code !== 'INVALID_REQUEST') await expect(asked).rejects.toMatchObject({ delivered: false });
  });

  it('EXEC-3 each refusal advises what can be done about it', async () => {
    const adviceFor = async (url: string, lookup = to('10.0.0.1')): Promise<string> => {
      const thrown: unknown = await requirePublic(url, lookup).catch((error: unknown) => error);
      return (thrown as ToolscoutError).suggestion;
    };
    expect(await adviceFor('https://tools.example/')).toBe(
      'Add the server to the config; only servers of the config may be inside this network.',
    );
    expect(await adviceFor('https://user@tools.example/')).toBe('Remove user and password from the URL.');
    expect(await adviceFor('http://tools.example/')).toBe('Send a URL that begins with https://.');
    const unknown = (): Promise<never> => Promise.reject(new Error('ENOTFOUND'));
    expect(await adviceFor('https://tools.example/', unknown)).toBe('Check the host name in the URL.');
  });

  it('A19 an address in brackets is judged without a lookup', async () => {
    const never: Lookup = () => Promise.reject(new Error('looked up'));
    expect((await requirePublic('https://[2606:4700::1111]/', never)).hostname).toBe('[2606:4700::1111]');
    await expect(requirePublic('https://[fd00::1]/', never)).rejects.toThrow('fd00::1 is not on the public network');
  });
});
