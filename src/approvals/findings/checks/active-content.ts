import type { Check, TextPattern } from '../check.js';

const ACTIVE = 'contains content that acts when it is shown';
const active = (pattern: RegExp, weight = 4, reason = ACTIVE): TextPattern => ({ pattern, weight, reason });
const BEACON = 'loads an address that carries what the user wrote';

/** Content that does something when a host renders it. */
export const activeContent: Check = {
  name: 'active-content',
  about: 'Scripts, frames and images that act when they are rendered',
  isShape: true,
  needs: /[<(]|script:|data:text|cookie|localstorage|sendbeacon|https?:/,
  patterns: [
    active(
      /<script\b[^>]{0,200}>(?! tags?\b)[^<]{0,40}[(=;]|<script\b[^>]{0,100}\bsrc\s{0,2}=\s{0,2}["']?(?:https?:)?\/\//,
    ),
    active(
      /<(?:img|svg|body|video|audio|iframe|input|details|object|embed|a|div|marquee)\b[^>]{0,200}\bon[a-z]{3,20}\s{0,2}=\s{0,2}["'a-z]/,
    ),
    active(/\b(?:javascript|vbscript):\s{0,2}[a-z(]|\bdata:text\/html/),
    active(
      /<iframe\b[^>]{0,200}\b(?:srcdoc|src)\s{0,2}=|<(?:object|embed)\b[^>]{0,100}\b(?:data|src)\s{0,2}=|<meta\b[^>]{0,60}http-equiv/,
    ),
    active(/<form\b[^>]{0,100}\baction\s{0,2}=\s{0,2}["']?(?:https?:)?\/\//),
    active(/<style\b[^>]{0,60}>[^<]{0,200}url\(/),
    active(
      /!\[[^\]]{0,80}\]\((?:https?:)?\/\/[^)]{1,300}\?[^)]{0,300}(?:[{<$[]|%7b|user|message|conversation|secret|data=)/,
      4,
      BEACON,
    ),
    active(/!\[[^\]]{0,80}\]\(https?:\/\//, 2, 'loads an image from the web'),
    active(
      /\b(?:image|img|picture|pixel|markdown)\b[^.\n]{0,60}https?:\/\/\S{1,200}\?\S{0,100}=\S{0,4}[<{]/,
      4,
      BEACON,
    ),
    active(/document\.cookie|localstorage|\beval\(\s{0,2}atob\(|navigator\.sendbeacon/, 4),
  ],
};
