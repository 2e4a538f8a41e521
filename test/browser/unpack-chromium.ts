import chromium from '@sparticuz/chromium';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The browser, unpacked. */
    chromium: string;
  }
}

/** Unpacks the browser once, before files that run side by side would do it at the same time. */
export async function setup(project: TestProject): Promise<void> {
  project.provide('chromium', await chromium.executablePath());
}
