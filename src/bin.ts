#!/usr/bin/env node
import './heap.js';

// Not a static import: that would be read and run before the first line here.
await import('./command.js');
