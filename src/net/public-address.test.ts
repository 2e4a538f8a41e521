import { describe, expect, it } from 'vitest';
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

  it('A19 an address in brackets is judged without a lookup', async () => {
    const never: Lookup = () => Promise.reject(new Error('looked up'));
    expect((await requirePublic('https://[2606:4700::1111]/', never)).hostname).toBe('[2606:4700::1111]');
    await expect(requirePublic('https://[fd00::1]/', never)).rejects.toThrow('fd00::1 is not on the public network');
  });
});
