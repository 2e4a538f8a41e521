#!/usr/bin/env node
// Not static imports: those would be read and run before the first line here. A forwarder loads nothing else, so that it stays small.
const isShared = process.argv[2] === 'serve' && process.argv.includes('--shared') && process.argv.includes('--stdio');
const alone = () => import('./app/shared/serve-alone.js');
const isServed = isShared && (await (await import('./app/shared/forward.js')).forwardHost(process, alone));
if (!isServed) {
  await import('./app/settle-heap.js');
  await import('./app/command.js');
}
