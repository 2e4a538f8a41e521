/** Names longer than this are cut before they are read. */
const MAX_LENGTH = 1000;

/** Brands that are one word in spite of their capitals. */
const BRANDS = /OAuth|GitHub|GitLab|YouTube|LinkedIn/g;

/** The words of a name in camelCase, PascalCase, kebab-case, snake_case or any mix, in lower case. */
export function splitWords(name: string): string[] {
  return name
    .slice(0, MAX_LENGTH)
    .replace(BRANDS, (brand) => brand.charAt(0) + brand.slice(1).toLowerCase())
    .replace(/([\p{Ll}\d])(?=\p{Lu})/gu, '$1 ')
    .replace(/(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1 ')
    .toLowerCase()
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== '');
}

/** A name as a phrase for people: `get_userInfo` → `Get user info`. */
export function humanise(name: string): string {
  const phrase = splitWords(name).join(' ');
  return phrase.charAt(0).toUpperCase() + phrase.slice(1);
}
