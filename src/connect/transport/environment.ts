import { VIA_VARIABLE } from '../../protocol/lineage.js';

/** What every child may know of the machine: enough to find programs and speak the user's language. */
const INHERITED_POSIX = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'LANG', 'TMPDIR', VIA_VARIABLE] as const;

const INHERITED_WINDOWS = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'PROGRAMW6432',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  VIA_VARIABLE,
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
] as const;

/**
 * The whole environment of a child: a short list of harmless variables of ours, and what its own
 * config says. Nothing else, so no server ever sees another server's secret (A32). A value that
 * starts with `()` is a shell function in disguise and is dropped.
 */
export function childEnvironment(
  base: Readonly<Record<string, string | undefined>>,
  configured: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const environment = Object.create(null) as Record<string, string>;
  const windows = platform === 'win32';
  // On Windows `Path` and `PATH` are one variable, but not one key of a copied environment.
  const known = windows ? new Map(Object.entries(base).map(([name, value]) => [name.toUpperCase(), value])) : undefined;
  for (const name of windows ? INHERITED_WINDOWS : INHERITED_POSIX) {
    const value = known ? known.get(name) : base[name];
    if (value !== undefined && !value.startsWith('()')) environment[name] = value;
  }
  for (const [name, value] of Object.entries(configured)) environment[name] = value;
  return environment;
}
