/** Places that several principals share. */
export interface Places {
  /** Takes a place and answers how it is given back; `undefined` when there is none left for this principal. */
  enter(principal: string): (() => void) | undefined;
}

/** So many places in all, and so many for each principal: one of them cannot take the places of the others (A43). */
export function createPlaces({ total, each }: { readonly total: number; readonly each: number }): Places {
  const taken = new Map<string, number>();
  let all = 0;
  return {
    enter(principal) {
      const own = taken.get(principal) ?? 0;
      if (all >= total || own >= each) return undefined;
      all++;
      taken.set(principal, own + 1);
      let left = false;
      return () => {
        if (left) return;
        left = true;
        all--;
        const rest = taken.get(principal)! - 1;
        if (rest === 0) taken.delete(principal);
        else taken.set(principal, rest);
      };
    },
  };
}
