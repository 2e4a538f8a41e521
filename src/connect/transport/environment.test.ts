import { describe, expect, it } from 'vitest';
import { childEnvironment } from './environment.js';

describe('childEnvironment', () => {
  it('CONN-4 A32 passes on a short list and the configured variables, nothing else', () => {
    const base = {
      HOME: '/h',
      PATH: '/bin',
      LANG: 'C',
      GITHUB_TOKEN: 'secret',
      AWS_SECRET: 'x',
      NODE_OPTIONS: '-r evil',
    };
    const made = childEnvironment(base, { API_KEY: 'mine' }, 'linux');
    expect({ ...made }).toEqual({ HOME: '/h', PATH: '/bin', LANG: 'C', API_KEY: 'mine' });
  });

  it('CONN-4 the configured value wins over the inherited one', () => {
    expect(childEnvironment({ PATH: '/bin' }, { PATH: '/opt' }, 'linux')['PATH']).toBe('/opt');
  });

  it('A32 drops inherited values that are shell functions', () => {
    expect({ ...childEnvironment({ TERM: '() { :;}; touch x' }, {}, 'linux') }).toEqual({});
  });

  it('CONN-4 names of variables cannot reach a prototype', () => {
    const configured = JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>;
    const made = childEnvironment({}, configured, 'linux');
    expect(Object.keys(made)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('CONN-4 on Windows the case of a name does not matter', () => {
    const made = childEnvironment({ Path: 'C:\\bin', SystemRoot: 'C:\\Windows', HOME: 'no' }, {}, 'win32');
    expect({ ...made }).toEqual({ PATH: 'C:\\bin', SYSTEMROOT: 'C:\\Windows' });
  });
});
