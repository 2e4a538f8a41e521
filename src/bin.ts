#!/usr/bin/env node
import './app/settle-heap.js';

// Not a static import: that would be read and run before the first line here.
await import('./app/command.js');
