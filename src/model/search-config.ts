import * as z from 'zod';

/** What search uses beside what is shipped. */
export const SearchConfig = z.strictObject({
  /** The name of an installed package with a sentence encoder; none by default (FIND-8). */
  encoder: z
    .string()
    .regex(/^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/, 'must be the name of an installed package')
    .optional(),
});
