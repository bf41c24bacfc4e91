// Writes leasehold.cjs, for require, from leasehold.js.
import { readFileSync, writeFileSync } from 'node:fs';

const here = (name) => new URL(name, import.meta.url);
const source = readFileSync(here('leasehold.js'), 'utf8');
const names = [...source.matchAll(/^export class (\w+)/gm)].map(([, name]) => name);
const text = source.replace(/^export /gm, '').replace("import { Client, Worker } from './leasehold.js'", "const { Client, Worker } = require('./leasehold.cjs')");
writeFileSync(here('leasehold.cjs'), `// Written from leasehold.js by build.js.\n${text}\nmodule.exports = { ${names.join(', ')} };\n`);
