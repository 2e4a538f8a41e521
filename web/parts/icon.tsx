import type { VNode } from 'preact';

const PATHS = {
  home: 'M3 9.5 10 4l7 5.5V16a1 1 0 0 1-1 1h-3.5v-4.5h-5V17H4a1 1 0 0 1-1-1z',
  servers: 'M4 4h12v5H4zM4 11h12v5H4zM7 6.5h.01M7 13.5h.01',
  search: 'M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zM13.5 13.5 17 17',
  traffic: 'M3 7h11M11 4l3 3-3 3M17 13H6M9 10l-3 3 3 3',
  approvals: 'M10 2.5 16 5v4.5c0 4-2.7 6.7-6 8-3.3-1.3-6-4-6-8V5zM7.5 10l2 2 3.5-4',
  skills: 'M10 3l2.1 4.5 4.9.6-3.6 3.4.9 4.9L10 14l-4.3 2.4.9-4.9L3 8.1l4.9-.6z',
  rules: 'M4 5h12M4 10h12M4 15h12M7 3.5v3M13 8.5v3M9 13.5v3',
  audit: 'M5 3h10v14H5zM8 7h4M8 10h4M8 13h2',
  config:
    'M10 12.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM10 3v2M10 15v2M3 10h2M15 10h2M5 5l1.5 1.5M13.5 13.5 15 15M15 5l-1.5 1.5M6.5 13.5 5 15',
  tool: 'M12.5 3.5a4 4 0 0 0-4 5.3L3.5 13.8l2.7 2.7 5-5a4 4 0 0 0 5.3-4l-2.4 2.4-2.4-.6-.6-2.4z',
  check: 'M4 10.5 8 14.5 16 6',
  cross: 'M5 5l10 10M15 5 5 15',
  warn: 'M10 3.5 17.5 16.5h-15zM10 8.5v3.5M10 14.5h.01',
  info: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 9.5v4M10 6.5h.01',
  chevron: 'M7 5l5 5-5 5',
  down: 'M5 7.5l5 5 5-5',
  copy: 'M7 7V4h9v9h-3M4 7h9v9H4z',
  sun: 'M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM10 2.5v1.5M10 16v1.5M2.5 10H4M16 10h1.5M4.7 4.7l1 1M14.3 14.3l1 1M15.3 4.7l-1 1M5.7 14.3l-1 1',
  moon: 'M15.5 12A6 6 0 0 1 8 4.5 6 6 0 1 0 15.5 12z',
  system: 'M3 4h14v9H3zM8 16.5h4M10 13v3.5',
  keyboard: 'M2.5 5.5h15v9h-15zM5.5 8.5h.01M8.5 8.5h.01M11.5 8.5h.01M14.5 8.5h.01M7 11.5h6',
  plus: 'M10 4v12M4 10h12',
  play: 'M6.5 4.5 15 10l-8.5 5.5z',
  stop: 'M5.5 5.5h9v9h-9z',
  menu: 'M3 6h14M3 10h14M3 14h14',
  refresh: 'M16 10a6 6 0 1 1-1.8-4.3M16 3.5V7h-3.5',
  pause: 'M7 5v10M13 5v10',
  download: 'M10 3.5V13M6 9.5l4 4 4-4M4 16.5h12',
  star: 'M10 3l2.1 4.5 4.9.6-3.6 3.4.9 4.9L10 14l-4.3 2.4.9-4.9L3 8.1l4.9-.6z',
  out: 'M8 4H4v12h4M12 6.5l4 3.5-4 3.5M16 10H8',
} as const;

/** The name of a picture. */
export type IconName = keyof typeof PATHS;

/** A small picture beside words; never the only label. */
export function Icon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg class="icon" viewBox="0 0 20 20" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
