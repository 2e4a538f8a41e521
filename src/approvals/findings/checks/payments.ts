import type { Check } from '../check.js';
import { near } from '../rules.js';

const TAKES = 'takes money that the user does not know of';

/** Money that goes elsewhere than the user means. */
export const payments: Check = {
  name: 'payments',
  about: 'Fees and payments that the user does not know of',
  rules: [
    near('fee|pay also|twice hide|nobody|not|quiet user|tell|hide|confirm', 18, 5, TAKES),
    near('fee|pay not confirm|ask', 8, 3, TAKES),
    near('fee|pay not tell', 10, 2, TAKES),
    near('fee|pay always|whole we|recipient', 10, 2, TAKES),
  ],
};
