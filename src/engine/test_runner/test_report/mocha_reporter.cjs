// A reporter for mocha: writes what happens to each test into a file, a line for each event, and shows mocha's own `spec`.
const { openSync, writeSync } = require('fs');
const { dirname, join } = require('path');

const folder = dirname(require.resolve(process.argv[1]));
const shown = require(join(folder, folder.endsWith('cli') ? '../reporters/spec.js' : '../lib/reporters/spec.js'));
const Spec = shown.Spec ?? shown;

module.exports = class extends Spec {
  constructor(runner, options) {
    super(runner, options);
    const file = openSync(options.reporterOption.file, 'wx');
    const write = (type, about) => {
      const path = about?.titlePath?.() ?? [];
      writeSync(file, JSON.stringify({ type, file: about?.file ?? about?.parent?.file, path, kind: about?.type }) + '\n');
    };
    runner.on('test', (test) => write('begin', test));
    runner.on('pass', (test) => write('pass', test));
    runner.on('pending', (test) => write('skip', test));
    runner.on('fail', (test) => write('fail', test));
    runner.on('test end', (test) => write('end', test));
    runner.once('end', () => write('complete'));
  }
};
