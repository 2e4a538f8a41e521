/**
 * The variable that every child of toolscout inherits, and its children from it: who of them left its group is found by it when toolscout ends (A38).
 * A program that is to stay starts without it.
 */
export const CHILD_VARIABLE = 'TOOLSCOUT_CHILD';
