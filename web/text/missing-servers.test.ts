import { describe, expect, it } from 'vitest';
import { missingServers } from './missing-servers.js';

describe('servers whose tools are missing', () => {
  it('STUDIO-1 are those that fail, then those that are disabled, each with its reason', () => {
    const servers = [
      { id: 'off', enabled: false, problem: 'disabled in the configuration' },
      { id: 'well', enabled: true },
      { id: 'mailer', enabled: true, problem: 'No such command.' },
    ];
    expect(missingServers(servers)).toEqual([
      { id: 'mailer', isDisabled: false, reason: 'No such command.' },
      { id: 'off', isDisabled: true, reason: 'It is disabled. Open it to enable it again.' },
    ]);
    expect(missingServers([{ id: 'well', enabled: true }])).toEqual([]);
  });
});
