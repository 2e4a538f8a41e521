import type { StudioFiles } from '../../src/front/http/routes/studio.js';

/** A page of a few files, as a build makes them. */
export const STUDIO_PAGE: StudioFiles = {
  async read(name) {
    const known = ['index.html', 'index-B3x9kQ2a.js', 'index-C7aa01Zz.css', 'logo.svg', 'icon.png', 'mono.woff2'];
    return known.includes(name) ? Buffer.from(`content of ${name}`) : undefined;
  },
};
