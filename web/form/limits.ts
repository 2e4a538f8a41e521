import type { Field } from './field.js';

/** A default is named up to this length. */
const MAX_DEFAULT = 60;

function range(least: number | undefined, most: number | undefined, what = ''): string | undefined {
  const unit = what === '' ? '' : ` ${what}`;
  if (least !== undefined && most !== undefined) {
    return least === most ? `exactly ${least}${unit}` : `${least} to ${most}${unit}`;
  }
  if (least !== undefined) return `at least ${least}${unit}`;
  return most === undefined ? undefined : `at most ${most}${unit}`;
}

function boundsOf(field: Field): ReadonlyArray<string | undefined> {
  switch (field.kind) {
    case 'number':
      return [
        range(field.minimum, field.maximum),
        field.above === undefined ? undefined : `more than ${field.above}`,
        field.below === undefined ? undefined : `less than ${field.below}`,
        field.multipleOf === undefined ? undefined : `a multiple of ${field.multipleOf}`,
      ];
    case 'text':
      return [range(field.minLength, field.maxLength, 'characters')];
    case 'list':
      return [range(field.minItems, field.maxItems, 'items'), field.unique ? 'each once' : undefined];
    default:
      return [];
  }
}

/** What a value may be and what it is when it is left out: `0 to 60000, default 5`. Empty where the schema says nothing of it. */
export function limitsText(field: Field): string {
  const { initial } = field;
  const text = initial === undefined ? '' : typeof initial === 'string' ? initial : JSON.stringify(initial);
  const given = text.length > MAX_DEFAULT ? `${text.slice(0, MAX_DEFAULT)}…` : text;
  return [...boundsOf(field), text === '' ? undefined : `default ${given}`].filter(Boolean).join(', ');
}
