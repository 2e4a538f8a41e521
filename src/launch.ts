#!/usr/bin/env node
// The program that hosts start, as CommonJS: the loader of ES modules alone takes more memory than all that a forwarder does.
import { forwardHost, isForwarder } from './app/shared/forward.js';

/** A module beside this program once it is built; it is loaded by the process that needs it. */
const beside = (file: string): Promise<unknown> => import(file);

const start = (): void => void beside('./cli.js');

if (isForwarder(process.argv)) {
  const alone = async () => (await beside('./serve-alone.js')) as typeof import('./app/shared/serve-alone.js');
  void forwardHost(process, alone).then((isServed) => isServed || start());
} else start();
