import type { Viewer } from '../../model/viewer.js';
import type { Gateway } from '../contract.js';

/** The facets of the contract: the members that are no verbs themselves. */
type Facets = {
  readonly [Name in keyof Gateway as Gateway[Name] extends (...args: never) => unknown ? never : Name]: Gateway[Name];
};

/** Every verb of the contract but the one that binds a viewer: `search`, `servers.list`. */
export type VerbName =
  | Exclude<keyof Gateway, keyof Facets | 'as'>
  | { readonly [Facet in keyof Facets]: `${Facet}.${keyof Facets[Facet] & string}` }[keyof Facets];

type BoundVerb<Name> = Name extends `${infer Facet extends keyof Facets}.${infer Verb}`
  ? Facets[Facet][Verb & keyof Facets[Facet]]
  : Gateway[Name & keyof Gateway];

/** Every verb as a viewer has it, by its whole name. */
export type BoundVerbs = { readonly [Name in VerbName]: BoundVerb<Name> };

/** Every verb as it is implemented: the viewer comes first. */
export type Verbs = {
  readonly [Name in VerbName]: BoundVerbs[Name] extends (...args: infer Args) => infer Answer
    ? (viewer: Viewer, ...args: Args) => Answer
    : never;
};

declare const takesViewer: unique symbol;

/** Verbs that {@link defineVerbs} has checked; only such can be bound to a viewer. */
export type VerbTable<Name extends VerbName = VerbName> = {
  readonly [Each in Name]: Verbs[Each] & { readonly [takesViewer]: true };
};

/** The verbs of a table, typed by their names, so that the type of the answer has no say in what the table is. */
type Defined<Table> = VerbTable<keyof NoInfer<Table> & VerbName>;

/** TypeScript alone lets a function pass that leaves out its first parameter; this does not. */
type TakingViewer<Table> = {
  readonly [Name in keyof Table]: NonNullable<Table[Name]> extends (...args: infer Args) => unknown
    ? Args extends [Viewer, ...unknown[]]
      ? unknown
      : 'A verb takes the viewer first.'
    : never;
};

/** Verbs of the gateway. One that does not take the viewer does not compile; one that has no use for it names it `_viewer`. */
export function defineVerbs<Table extends Partial<Verbs>>(table: Table & TakingViewer<Table>): Defined<Table> {
  return table as unknown as Defined<Table>;
}
