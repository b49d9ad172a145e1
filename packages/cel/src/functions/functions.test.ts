import { comeTo, fail } from '../cases.testing.ts';

comeTo('strings', {
  "'tacocat'.charAt(3) + 'a😀b'.charAt(1) + 'ab'.charAt(2)": 'o😀',
  "'a😀b'.indexOf('b')": 2,
  "'tacocat'.indexOf('a', 2)": 5,
  "'tacocat'.indexOf('')": 0,
  "'tacocat'.indexOf('x')": -1,
  "'tacocat'.lastIndexOf('a')": 5,
  "'tacocat'.lastIndexOf('a', 4)": 1,
  "'a😀b'.substring(1, 2)": '😀',
  "'tacocat'.substring(4)": 'cat',
  "'hello hello'.replace('he', 'we')": 'wello wello',
  "'hello hello'.replace('he', 'we', 1)": 'wello hello',
  "'hello'.replace('l', 'L', 0)": 'hello',
  "'ab'.replace('', '_')": '_a_b_',
  "'a.b.c'.split('.')": ['a', 'b', 'c'],
  "'a.b.c'.split('.', 2)": ['a', 'b.c'],
  "'a.b'.split('.', 0)": [],
  "'a😀'.split('')": ['a', '😀'],
  "['a', 'b'].join() + ['a', 'b'].join('-')": 'aba-b',
  "[].join('-')": '',
  "' \\t a b\\u00a0\\n'.trim()": 'a b',
  "'TacoCÄt'.lowerAscii()": 'tacocÄt',
  "'tacocät'.upperAscii()": 'TACOCäT',
  "'a😀b'.reverse()": 'b😀a',
  "strings.quote('a\"b\\n')": '"a\\"b\\n"',
  "'abc'.contains('bc') && 'abc'.startsWith('ab') && 'abc'.endsWith('c')": true,
  "size('a😀b') == 3 && 'a😀b'.size() == 3": true,
  "'a' < 'b' && 'a' < 'aa' && '\\uffff' < '😀'": true,
});
fail('strings', {
  "'abc'.charAt(4)": 'index out of range',
  "'abc'.substring(2, 1)": 'invalid substring range',
  "'abc'.substring(-1)": 'index out of range',
  "'abc'.indexOf('a', 7)": 'index out of range',
  "[dyn(1)].join('-')": 'no such overload',
});

comeTo('format', {
  "'%s is %d%% of %s'.format(['a', 5, [1, 2.5, null, true]])": 'a is 5% of [1, 2.5, null, true]',
  "'%.2f %e %x %X %o %b %b'.format([1.005, 1234.5, 255, 'az', 8, 5, true])": '1.00 1.234500e+03 ff 617A 10 101 1',
  "'%s %s %s'.format([timestamp('2024-01-01T00:00:00Z'), duration('90s'), {'b': 1, 'a': 2}])": '2024-01-01T00:00:00Z 90s {a: 2, b: 1}',
  "'%s'.format([int])": 'int',
  "'%.0f %.0f %.1f %.2f'.format([2.5, 3.5, 0.25, 1.375])": '2 4 0.2 1.38',
});
fail('format', {
  "'%s'.format([])": 'out of range',
  "'%q'.format([1])": 'unrecognized formatting clause',
  "'%d'.format(['a'])": 'decimal clause',
});

comeTo('lists', {
  '[1, 2, 2].isSorted() && !["b", "a"].isSorted() && [].isSorted()': true,
  '[1, 2, 3].sum()': 6,
  '[1.5, 2.5].sum()': 4,
  '[9007199254740991, 2, -2].sum()': 9007199254740991,
  "[duration('1m'), duration('30s')].sum()": '90s',
  'dyn([1.5, 2.5]).sum()': 4,
  '[dyn(1u), 2u].sum()': '3u',
  '[3, 1, 2].min()': 1,
  '[3.0, 1.0].max()': 3,
  "['b', 'a'].min()": 'a',
  '[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2 && [1].indexOf(5) == -1': true,
  '[1, 2, 3].slice(1, 3)': [2, 3],
  '[3, 1, 2].sort()': [1, 2, 3],
  '[1, 2, 1.0].distinct()': [1, 2],
  '[1, 2].reverse()': [2, 1],
  '[[1], [2, [3]]].flatten(2)': [1, 2, 3],
  'lists.range(3)': [0, 1, 2],
  'sets.contains([1, 2], [dyn(2.0)]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])': true,
});
fail('lists', {
  '[].min()': 'min called on empty list',
  '[9223372036854775807, 1].sum()': 'integer overflow',
  '[1].slice(0, 2)': 'cannot slice',
  "[dyn(1), 'a'].sum()": 'no such overload',
  '[dyn(1u), 1].sum()': 'no such overload',
});

comeTo('regular expressions', {
  "'abc123'.matches('[0-9]+$') && matches('abc', '^a')": true,
  "'a'.matches('b' + '')": false,
  "'abc 123 de 45'.find('[0-9]+')": '123',
  "'abc'.find('[0-9]+')": '',
  "'abc 123 de 45'.findAll('[0-9]+')": ['123', '45'],
  "'abc 123 de 45'.findAll('[0-9]+', 1)": ['123'],
  "'aaa'.findAll('a*?')": ['', '', '', ''],
  "'ab'.findAll('a|ab')": ['a'],
  "'aXbXc'.find('X.*X')": 'XbX',
  "'aXbXc'.find('X.*?X')": 'XbX',
  "'aXbXcX'.find('X.*?X')": 'XbX',
  "'a😀b'.findAll('.')": ['a', '😀', 'b'],
  "'one two'.findAll('\\\\bt')": ['t'],
});
fail('regular expressions', { "'a'.matches('(' + '')": 'missing closing )' });

comeTo('times', {
  "timestamp('2009-02-13T23:31:30.123Z').getFullYear()": 2009,
  "timestamp('2009-02-13T23:31:30Z').getMonth()": 1,
  "timestamp('2009-02-13T23:31:30Z').getDate()": 13,
  "timestamp('2009-02-13T23:31:30Z').getDayOfMonth()": 12,
  "timestamp('2009-02-13T23:31:30Z').getDayOfWeek()": 5,
  "timestamp('2009-02-13T23:31:30Z').getDayOfYear()": 43,
  "timestamp('2009-02-13T23:31:30Z').getHours('Europe/Berlin')": 0,
  "timestamp('2009-02-13T23:31:30Z').getDate('+02:00')": 14,
  "timestamp('2009-02-13T23:31:30Z').getMinutes('-00:15')": 16,
  "timestamp('2009-07-13T12:00:00Z').getHours('America/New_York')": 8,
  "timestamp('2009-02-13T23:31:30.123456Z').getMilliseconds()": 123,
  "timestamp('1969-12-31T23:59:59.5Z').getSeconds()": 59,
  "timestamp('2024-01-31T00:00:00Z') + duration('24h')": '2024-02-01T00:00:00Z',
  "timestamp('2024-01-02T00:00:00Z') - timestamp('2024-01-01T00:00:00Z')": '86400s',
  "duration('1h30m').getMinutes() + duration('90s').getSeconds() + duration('1.234s').getMilliseconds()": 414,
  "duration('1h') > duration('59m') && timestamp('2024-01-01T00:00:00Z') < timestamp('2024-01-01T00:00:00.000000001Z')": true,
  "duration('-1.5s')": '-1.5s',
});
fail('times', {
  "timestamp('9999-12-31T23:59:59Z') + duration('1s')": 'timestamp overflow',
  "timestamp('0001-01-01T00:00:00Z') - duration('1s')": 'timestamp overflow',
  "timestamp('2024-01-01T00:00:00Z').getHours('Nowhere/Here')": 'unknown time zone',
  "duration('5 minutes')": 'duration',
  "timestamp('2024-02-30T00:00:00Z')": 'out of range',
});

comeTo('URLs', {
  "url('https://user@example.com:8443/a b/c?k=v&k=w&e=%20').getHost()": 'example.com:8443',
  "url('https://example.com:8443/p').getHostname()": 'example.com',
  "url('https://[::1]:80/p').getHostname() + url('https://[::1]:80/p').getPort()": '::180',
  "url('HTTPS://example.com/p').getScheme()": 'https',
  "url('https://example.com/a b').getEscapedPath()": '/a%20b',
  "url('https://example.com/p?k=v&k=w&e=%20').getQuery()": { k: ['v', 'w'], e: [' '] },
  "url('/path/only').getEscapedPath()": '/path/only',
  "['https://a.b/c', '/p', 'a.b/c', 'mailto:me', '', 'http://a b/'].map(u, isURL(u))": [true, true, false, false, false, false],
  // What stands before an @ is no host, and has characters of its own.
  "['http://me:pw@a.b/', 'http://#%blah$#@', 'http://a#b', 'http://%zz@a'].map(u, isURL(u))": [true, false, false, false],
});
fail('URLs', { "url('nothing')": 'URL parse error' });

comeTo('quantities', {
  "['1Gi', '100m', '1x', ''].map(q, isQuantity(q))": [true, true, false, false],
  "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('1').isLessThan(quantity('1001m'))": true,
  "quantity('1000m').compareTo(quantity('1'))": 0,
  "quantity('1000m') == quantity('1')": true,
  "quantity('5k').asInteger()": 5000,
  "quantity('50m').isInteger()": false,
  "quantity('50m').asApproximateFloat()": 0.05,
  "quantity('-5').sign()": -1,
  "quantity('50k').add(quantity('20k')).sub(20).asInteger()": 69980,
});
fail('quantities', { "quantity('5x')": 'quantities must match', "quantity('50m').asInteger()": 'cannot convert value to integer' });

comeTo('addresses', {
  "['10.0.0.1', '10.0.0.01', '::1', '::ffff:1.2.3.4', '1.2.3', 'fe80::1%eth0'].map(a, isIP(a))": [true, false, true, false, false, false],
  "string(ip('2001:DB8:0:0:1:0:0:1'))": '2001:db8::1:0:0:1',
  "ip.isCanonical('2001:db8::1') && !ip.isCanonical('2001:DB8::1')": true,
  "ip('127.0.0.1').family() == 4 && ip('::1').family() == 6": true,
  "ip('127.0.0.1').isLoopback() && ip('0.0.0.0').isUnspecified() && ip('169.254.1.1').isLinkLocalUnicast()": true,
  "ip('224.0.0.1').isLinkLocalMulticast() && ip('8.8.8.8').isGlobalUnicast() && !ip('224.1.1.1').isGlobalUnicast()": true,
  "cidr('192.168.0.0/16').containsIP('192.168.4.4') && !cidr('192.168.0.0/16').containsIP(ip('192.169.0.1'))": true,
  "cidr('192.168.0.0/16').containsCIDR('192.168.8.0/24') && !cidr('192.168.8.0/24').containsCIDR(cidr('192.168.0.0/16'))": true,
  "cidr('192.168.1.7/20').masked()": '192.168.0.0/20',
  "cidr('2001:db8::/33').containsIP('2001:db8:8000::1')": false,
  "cidr('10.0.0.1/8').ip() == ip('10.0.0.1') && cidr('10.0.0.0/8').prefixLength() == 8": true,
  "['10.0.0.0/8', '10.0.0.0/33', '10.0.0.0', '::/129', '::/0'].map(c, isCIDR(c))": [true, false, false, false, true],
});
fail('addresses', { "ip('10.0.0')": 'parse error', "cidr('10.0.0.0')": 'parse error' });
