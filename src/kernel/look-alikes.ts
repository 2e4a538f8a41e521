const CYRILLIC = ['авеёіїјкмнорстухѕԁԛԝһ', 'abeeiijkmhopctyxsdqwh'] as const;
const GREEK = ['αβγεικνορτυχ', 'abyeikvoptux'] as const;
const OTHERS = ['ıո', 'in'] as const;

/** Small letters of other scripts that pass for Latin ones at a glance, and which. */
export const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  [CYRILLIC, GREEK, OTHERS].flatMap(([letters, latin]) =>
    [...letters].map((letter, at) => [letter, latin[at]!] as const),
  ),
);
