import type { Check } from '../check.js';
import { near } from '../rules.js';

const HIDES = 'wants faults to be kept from the user';

/** Orders to do work badly: to leave faults in, to keep them from the user, to call them safe. */
export const sabotage: Check = {
  name: 'sabotage',
  about: 'Orders to leave faults in, to keep them from the user, or to call them safe',
  rules: [
    near('flaw fine pretend|tell|hide|reply|user|must', 12, 4, HIDES),
    near('flaw fine despite|always|instead', 14, 4, HIDES),
    near('flaw not|hide tell|reply', 7, 2, HIDES),
    near('flaw hide must|always|reply|code', 8, 2, HIDES),
    near('code secretly|always put flaw|secret|login', 14, 3, 'wants a fault to be put into code'),
  ],
};
