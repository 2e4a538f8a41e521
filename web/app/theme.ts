import { effect, signal } from '@preact/signals';

/** Light, dark, or what the system says. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'toolscout-theme';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

function remembered(): Theme {
  const value = globalThis.localStorage?.getItem(KEY);
  return THEMES.find((theme) => theme === value) ?? 'system';
}

/** The theme that was chosen. */
export const theme = signal<Theme>('system');

/** Goes on to the next theme. */
export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
}

/** Applies the theme, now and whenever it changes, and remembers it. */
export function startTheme(): void {
  theme.value = remembered();
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
    localStorage.setItem(KEY, theme.value);
  });
}
