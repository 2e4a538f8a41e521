/**
 * Words that stand for one another when people and servers name the same action or thing. A word
 * of the query also finds the others of its class, at a fraction of the weight.
 */
const CLASSES: readonly string[] = [
  'get fetch retrieve read obtain load pull',
  'list enumerate show display browse view',
  'search find query lookup locate discover',
  'create add new make insert generate open',
  'write save store persist put',
  'update edit modify change alter patch set revise adjust',
  'delete remove erase drop destroy clear wipe purge discard',
  'send post deliver dispatch submit publish notify',
  'run execute invoke launch start trigger perform',
  'stop cancel abort terminate kill halt end',
  'move rename relocate transfer',
  'copy duplicate clone replicate',
  'upload attach import ingest',
  'download export save',
  'compute calculate evaluate solve',
  'analyze inspect examine review audit assess',
  'check verify validate test',
  'convert transform translate',
  'summarize digest summary overview',
  'compare diff difference',
  'merge combine join concatenate',
  'split divide separate',
  'enable activate allow',
  'disable deactivate block',
  'connect link associate bind',
  'schedule plan book reserve',
  'assign allocate delegate',
  'close resolve finish complete',
  'deploy release ship rollout',
  'install setup configure',
  'count number total amount',
  'draw plot chart graph visualize diagram',
  'crawl scrape extract',
  'capture screenshot snapshot record',
  'navigate visit goto',
  'click press tap',
  'issue ticket bug defect',
  'repository repo project',
  'file document',
  'directory folder path',
  'image picture photo',
  'message chat conversation',
  'email mail inbox',
  'user member account person people',
  'comment reply note remark',
  'event meeting appointment calendar',
  'task todo reminder',
  'table sheet spreadsheet',
  'row record entry item',
  'column field property attribute',
  'database db sql',
  'log trace history',
  'error exception failure crash',
  'website webpage page url site',
  'price cost quote rate',
  'stock share ticker equity',
  'weather forecast temperature',
  'location place address',
  'route direction path travel',
  'channel room',
  'customer client',
  'order purchase',
  'payment charge transaction',
  'article post story',
  'video clip movie',
  'audio sound music song',
  'server host machine instance',
  'container pod docker',
];

/** For every term of a class, the other terms of its classes; `termOf` is the analysis of the index. */
export function createVerbClasses(termOf: (word: string) => string): ReadonlyMap<string, readonly string[]> {
  const others = new Map<string, Set<string>>();
  for (const line of CLASSES) {
    const terms = line.split(' ').map(termOf);
    for (const term of terms) {
      const found = others.get(term) ?? new Set();
      for (const other of terms) if (other !== term) found.add(other);
      others.set(term, found);
    }
  }
  return new Map([...others].map(([term, found]) => [term, [...found]]));
}
