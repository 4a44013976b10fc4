// Node loads this before any program of the test command. In the process of jest, vitest or mocha it adds the options that
// make it write its report into FOLDER.
const { existsSync, writeFileSync } = require('fs');
const { isMainThread } = require('worker_threads');

// Options that would put the report elsewhere, wait for changes, or end the run at the first failure. The value follows in
// the next word where it says so.
const RUNNERS = {
  jest: {
    program: /\/jest(-cli)?\/bin\/jest\.js$/,
    dropped: { json: false, outputFile: true, watch: false, watchAll: false, bail: false },
    short: /^-b$/,
    added: (file) => ['--json', `--outputFile=${file}`, '--ci', '--bail=0'],
  },
  vitest: {
    program: /\/vitest\/vitest\.mjs$/,
    dropped: { outputFile: true, watch: false, run: false, bail: true },
    short: /^-w$/,
    added: (file, options) => [
      ...(options.some((word) => /^--reporters?(=|$)/.test(word)) ? [] : ['--reporter=default']),
      '--reporter=json', `--outputFile.json=${file}`, '--run', '--bail=0',
    ],
  },
  mocha: {
    program: /\/mocha\/bin\/_?mocha(\.js)?$/,
    dropped: { reporter: true, watch: false, bail: false },
    short: /^-[Rwb]$/,
    added: (file) => ['--reporter', `${FOLDER}/mocha_reporter.cjs`, '--reporter-option', `file=${file}`, '--no-bail'],
  },
};

function withoutDropped(words, { dropped, short }) {
  const kept = [];
  for (let at = 0; at < words.length; at += 1) {
    if (words[at] === '--') return [kept, words.slice(at)];
    const [, name, value] = /^--(?:no-)?([\w-]+)(?:\.\w+)?(=.*)?$/.exec(words[at]) ?? [];
    const camel = name?.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
    if (camel in dropped) at += dropped[camel] && value === undefined ? 1 : 0;
    else if (short.test(words[at])) at += words[at] === '-R' ? 1 : 0;
    else kept.push(words[at]);
  }
  return [kept, []];
}

function findProgram() {
  try {
    return require.resolve(process.argv[1]);
  } catch {
    return '';
  }
}

const program = isMainThread && process.argv[1] ? findProgram() : '';
const runner = Object.keys(RUNNERS).find((name) => RUNNERS[name].program.test(program));
if (runner && existsSync(FOLDER)) {
  // Programs that the tests start must not report here, and see the options that they would see without us.
  const options = (process.env.NODE_OPTIONS ?? '').replace(OPTION, '').trim();
  if (options) process.env.NODE_OPTIONS = options;
  else delete process.env.NODE_OPTIONS;
  const file = `${FOLDER}/${runner}-${process.pid}-${process.hrtime.bigint()}`;
  writeFileSync(`${file}.begin`, process.cwd(), { flag: 'wx' });
  const [words, rest] = withoutDropped(process.argv.slice(2), RUNNERS[runner]);
  process.argv.splice(2, Infinity, ...words, ...RUNNERS[runner].added(`${file}.json`, words), ...rest);
}
