import { homedir, userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { homeOf } from './place.js';

describe('the home of the user', () => {
  it('STORE-2 CFG-1 is what HOME says, but never the folder we were started in', () => {
    expect(homeOf({ HOME: '/home/ann' })).toBe('/home/ann');
    expect(homeOf({})).toBe(homedir());
    for (const HOME of ['', '.', 'ann']) expect(homeOf({ HOME })).toBe(userInfo().homedir);
  });
});
