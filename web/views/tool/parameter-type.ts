const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'yes or no',
  array: 'list',
  object: 'group',
  null: 'nothing',
};

/** The type of an argument in the words of the form beside it, and the choices where there are some. */
export function parameterType(type: string, values: readonly string[] = []): string {
  if (values.length > 0) return `one of ${values.slice(0, 12).join(', ')}${values.length > 12 ? ', …' : ''}`;
  return type
    .split('|')
    .map((each) => wordOf(each.trim()))
    .join(' or ');
}

/** A list is named with what it holds. */
function wordOf(type: string): string {
  return /^[a-z]+(?:\[\])+$/.test(type) ? `list of ${wordOf(type.slice(0, -2))}` : (WORDS[type] ?? type);
}
