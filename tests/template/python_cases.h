/* Templates that fail (NULL), or what Jinja 3.1.6 and Python 3.11 make of them, in the sandbox and with
 * the settings of transformers. */
#ifndef TEST_TEXT_PYTHON_CASES_H
#define TEST_TEXT_PYTHON_CASES_H

typedef struct python_case {
    const char *source, *expected;
} python_case;

static const python_case integer_cases[] = {
    {"{{ '{:010_x}'.format(3735928559) }}", "0_dead_beef"},
    {"{{ '{:,.2f}'.format(1234567.891) }}", "1,234,567.89"},
    {"{{ '{:,}'.format(1e22) }}", "1e+22"},
    {"{{ '{:,}'.format(123456789012345680.0) }}", "1.2345678901234568e+17"},
    {"{{ '{:020,}'.format(1234.5) }}", "00,000,000,001,234.5"},
    {"{{ '{:020,e}'.format(123456.5) }}", "0,000,001.234565e+05"},
    {"{{ 'inf'|float|int }}", NULL},
    {"{{ 'inf'|int }}", "0"},
    {"{{ '9999999999999999999999'|int }}", "9999999999999999999999"},
    {"{{ '0xFFFFFFFFFFFFFFFFFFFF'|int(0,16) }}", "1208925819614629174706175"},
    {"{{ '0xFFFFFFFFFFFFFFFFFFFF'|int(0,0) }}", "1208925819614629174706175"},
    {"{{ '0x_ff'|int(0,16) }}", "255"},
    {"{{ '1__0'|int(5) }}", "5"},
    {"{{ '1_0_'|int(5) }}", "5"},
    {"{{ '_1'|int(5) }}", "5"},
    {"{{ 'zz'*20|int }}", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"},
    {"{{ ('z'*40)|int(0,36) }}", "178689910246017054531432477289437798228285773001601743140683775"},
    {"{{ ('9'*4300)|int|string|length }}", "4300"},
    {"{{ ('9'*4301)|int(8) }}", "8"},
    {"{{ (10**4299)|string|length }}", "4300"},
    {"{{ 10**4300 }}", NULL},
    {"{{ 2**20000 }}", NULL},
    {"{{ 0 ** (10**30) }} {{ 1 ** (10**30) }} {{ (-1) ** (10**30) }} {{ (-1) ** (10**30+1)"
     " }}",
     "0 1 1 -1"},
    {"{{ 2 ** -(10**30) }}", "0.0"},
    {"{{ (10**400) ** -1 }}", NULL},
    {"{{ 10**400/3 }}", NULL},
    {"{{ 10**400 * 1.0 }}", NULL},
    {"{{ 10**400 > 1.5 }} {{ -10**400 < 1e308 }}", "True False"},
    {"{{ 10**400 / 10**399 }} {{ 3 / 10**400 }} {{ 1/10**320 }} {{ 17/10**323 }} {{ 25/10*"
     "*325}} {{ 24703282292062327/10**340 }} {{ 24703282292062328/10**340 }}",
     "10.0 0.0 1e-320 1.7e-322 5e-324 0.0 5e-324"},
    {"{{ 0/-5 }} {{ 0/-(10**40) }}", "-0.0 -0.0"},
    {"{{ 5.0|round(-1) }} {{ 15.0|round(-1) }} {{ 25.5|round(-1) }} {{ 2.5|round }} {{ 1e3"
     "00|round(-299) }} {{ -4.0|round(-1) }} {{ 1e308|round(-308) }} {{ 9e307|round(-308) "
     "}}",
     "0.0 20.0 30.0 2.0 1e+300 -0.0 1e+308 1e+308"},
    {"{{ 1.7e308|round(-308) }}", NULL},
    {"{{ 15|round(-1) }} {{ 25|round(-1) }} {{ -15|round(-1) }} {{ 5|round(-1) }} {{ 6|rou"
     "nd(-1) }} {{ (10**30+5)|round(-1) }}",
     "20 20 -20 0 10 1000000000000000000000000000000"},
    {"{{ 5.5|round(-9223372036854775808) }} {{ -9223372036854775808|round(-5) }} {{ 922337"
     "2036854775807|round(-1) }} {{ (-10**40)|round(-39) }}",
     "0.0 -9223372036854800000 9223372036854775810 100000000000000000000000000000000000000"
     "00"},
    {"{{ 2.675|round(2) }} {{ 1.005|round(2,'ceil') }} {{ 5|round(2,'floor') }} {{ 5|round"
     "(-1,'floor') }} {{ (10**30)|round(0,'ceil') }}",
     "2.67 1.01 5.0 0.0 1e+30"},
    {"{{ 0.1|round(70) }} {{ 5e-324|round(323) }} {{ 1.5|round(330) }}", "0.1 0.0 1.5"},
    {"{{ true + 2**64 }} {{ -true }} {{ +true }} {{ true|abs }} {{ true|int }} {{ true.bit"
     "_length() }}",
     "18446744073709551617 -1 1 1 1 1"},
    {"{{ {2**64: 'a', 1.8446744073709552e19: 'b'} }}", "{18446744073709551616: 'b'}"},
    {"{{ {9214364837600034815: 1}[9214364837600034816.0] }}", ""},
    {"{{ 9007199254740993 == 9007199254740992.0 }} {{ 9007199254740993 > 9007199254740992."
     "0 }}",
     "False True"},
    {"{{ [1,2,3][10**30:] }} {{ [1,2,3][-10**30:] }} {{ [1,2,3][::10**30] }} {{ [1,2,3][::"
     "-10**30] }} {{ 'abc'[10**30] }}",
     "[] [] [1] [1] "},
    {"{{ range(10**30, 10**30+3)|list }} {{ range(10**30, 10**30+3)[-1] }} {{ 10**30 in ra"
     "nge(10**30, 10**30+2) }} {{ range(10**30, 10**30+3)[::-1] }}",
     "[1000000000000000000000000000000, 1000000000000000000000000000001, 10000000000000000"
     "00000000000002] 1000000000000000000000000000002 True range(1000000000000000000000000"
     "000002, 999999999999999999999999999999, -1)"},
    {"{{ range(-9223372036854775808, 9223372036854775807, 4611686018427387904)|list }}",
     "[-9223372036854775808, -4611686018427387904, 0, 4611686018427387904]"},
    {"{{ range(9223372036854775807, -9223372036854775808, -4611686018427387904)|list }}",
     "[9223372036854775807, 4611686018427387903, -1, -4611686018427387905]"},
    {"{{ range(-9223372036854775808, -9223372036854775806)|list }}",
     "[-9223372036854775808, -9223372036854775807]"},
    {"{{ range(4) == range(0,4,1) }} {{ range(0,3,2) == range(0,4,2) }}", "True True"},
    {"{{ -9223372036854775808 // -1 }} {{ -9223372036854775808 % -1 }} {{ -922337203685477"
     "5808 // 3 }} {{ -9223372036854775808 % 3 }} {{ -9223372036854775808 % 92233720368547"
     "75807 }}",
     "9223372036854775808 0 -3074457345618258603 1 9223372036854775806"},
    {"{{ '5'.zfill(-9223372036854775808) }} {{ '-5'.zfill(-9223372036854775808) }} {{ 'x'."
     "center(-9223372036854775808) }} {{ 'x'.ljust(-9223372036854775808) }}",
     "5 -5 x x"},
    {"{{ 'ab' * (-9223372036854775808) }}|{{ [1] * (-9223372036854775808) }}", "|[]"},
    {"{{ -9223372036854775808|abs }} {{ -(-9223372036854775808) }} {{ -9223372036854775808"
     " ** 2 }} {{ 3 ** 41 }}",
     "9223372036854775808 9223372036854775808 85070591730234615865843651857942052864 36472"
     "996377170786403"},
    {"{{ '%d' % -9223372036854775808 }} {{ '%x' % -9223372036854775808 }} {{ '{:,}'.format"
     "(-9223372036854775808) }} {{ '%d' % 1e300 }} {{ '%5d|%-30d|' % (2**70, 2**70) }}",
     "-9223372036854775808 -8000000000000000 -9,223,372,036,854,775,808 100000000000000005"
     "250476025520442024870446858110815915491585411551180245798890819578637137508044786404"
     "370444383288387817694252323536043057564479218478670698284838720092657580373783023379"
     "478809005936895323497079994508111903896764088007465274278014249457925878882005684283"
     "8115669472196386865459400540160 1180591620717411303424|1180591620717411303424       "
     " |"},
    {"{{ -9223372036854775808|filesizeformat }} {{ (2**70)|filesizeformat }} {{ (10**30)|f"
     "ilesizeformat(true) }}",
     "-9223372036854775808 Bytes 1.2 ZB 827180.6 YiB"},
    {"{{ 'x\\ny'|indent(-9223372036854775808) }} {{ 'abcdefghijkl'|truncate(5, true, '...'"
     ", -1) }}",
     NULL},
    {"{{ 'abcdefghijkl'|truncate(9223372036854775807, true, '...', 9223372036854775807) }}"
     "",
     "abcdefghijkl"},
    {"{{ 'a,b,c'.split(',', -9223372036854775808) }} {{ 'a'|replace('a','b',-9223372036854"
     "775808) }} {{ 'aXa'.find('a', -9223372036854775808, 9223372036854775807) }} {{ 'aXa'"
     ".rfind('a', 9223372036854775807) }} {{ 'aXa'.count('', 9223372036854775807) }} {{ 'a"
     "bc'.startswith('', 9223372036854775807) }}",
     "['a', 'b', 'c'] b 0 -1 0 False"},
    {"{{ [1,2,3]|batch(-9223372036854775808)|list }} {{ [1,2,3]|slice(-9223372036854775808"
     ")|list }}",
     "[[1, 2, 3]] []"},
    {"{{ [1,2,3][-9223372036854775808:9223372036854775807:9223372036854775807] }} {{ [1,2,"
     "3][-9223372036854775808] }} {{ 'abc'[::-9223372036854775808] }}",
     "[1]  c"},
    {"{{ 'a\\tb'.expandtabs(9223372036854775807) }}", NULL},
    {"{{ {'a':1}|tojson(indent=-9223372036854775808) }}", "{\n\"a\": 1\n}"},
    {"{{ 'abc'.center(10**30) }}", NULL},
    {"{{ 'a' * 10**30 }}", NULL},
    {"{{ 5[1:2] }} {{ [1,2]['a':] }} {{ {}[1:] }}", "  "},
    {"{{ [3, 2**70, -2**70, 1.5, 1e30]|sort }} {{ [2**70, 2**71]|max }} {{ [2**70]*2|sum }"
     "} {{ [2**70, 2**70]|sum }} {{ [1,1.0,true,2**70,2**70]|unique|list }}",
     NULL},
    {"{{ 0xFFFFFFFFFFFFFFFFFFFF }} {{ 0o7777777777777777777777777 }} {{ 0b1111111111111111"
     "1111111111111111111111111111111111111111111111111 }} {{ 1_000_000_000_000_000_000_00"
     "0 }} {{ 1_0.5 }} {{ 1e1_0 }}",
     "1208925819614629174706175 37778931862957161709567 36893488147419103231 1000000000000"
     "000000000 10.5 10000000000.0"},
    {"{{ (2**70) is integer }} {{ (2**70) is number }} {{ (2**70) is even }} {{ (2**70+1) "
     "is odd }} {{ (2**70) is divisibleby(2**69) }} {{ (2**70) is float }} {{ (2**70) is s"
     "tring }}",
     "True True True True True False False"},
    {"{{ (2**70)|string }} {{ (2**70)|tojson }} {{ {'a': 2**70}|tojson }} {{ {2**70: 1}|to"
     "json }} {{ (2**70)~'' }} {{ '%s' % (2**70) }} {{ '%r' % (2**70) }} {{ '{}'.format(2*"
     "*70) }} {{ [2**70]|join(',') }} {{ (2**70)|e }}",
     "1180591620717411303424 1180591620717411303424 {\"a\": 1180591620717411303424} {\"118"
     "0591620717411303424\": 1} 1180591620717411303424 1180591620717411303424 118059162071"
     "7411303424 1180591620717411303424 1180591620717411303424 1180591620717411303424"},
    {"{{ '%c' % (2**70) }}", NULL},
    {"{{ '{:c}'.format(2**70) }}", NULL},
};

static const python_case macro_cases[] = {
    {"{% macro m(a, b=1, *c) %}{% endmacro %}", NULL},
    {"{% macro m(a, b=1) %}{{ a }}{{ varargs }}{% endmacro %}{{ m.name }} {{ m.arguments }"
     "} {{ m.catch_varargs }} {{ m.catch_kwargs }} {{ m.caller }} {{ m }}",
     "m ('a', 'b') True False False <Macro 'm'>"},
    {"{% macro m() %}{{ caller() }}{% endmacro %}{{ m.name }} {{ m.arguments }} {{ m['argu"
     "ments'] }} {{ m.caller }} {% macro k(a) %}{{ kwargs }}{% endmacro %}{{ k.arguments }"
     "}{{ k.catch_kwargs }}",
     "m () () True ('a',)True"},
    {"{% macro m() %}{{ caller.name }} {{ caller.arguments }} {{ caller }} {{ caller('x', "
     "'y') }}{% endmacro %}{% call(u, v=2) m() %}{{ u }}{{ v }}{% endcall %}",
     "None ('u', 'v') <Macro anonymous> xy"},
    {"{% macro m() %}{{ caller('x', 'y', 'z') }}{% endmacro %}{% call(u, v=2) m() %}{{ u }"
     "}{{ v }}{% endcall %}",
     NULL},
    {"{% macro m(x) %}{% endmacro %}{{ m.nothing }}{{ m.arguments[0] }}{{ m.arguments|leng"
     "th }}",
     "x1"},
};

static const python_case filter_cases[] = {
    {"{{ 'Look, goof-ball -- use the -b option! A well-known thing--really.'|wordwrap(12) "
     "}}",
     "Look, goof-\nball -- use\nthe -b\noption! A\nwell-known\nthing--\nreally."},
    {"{{ 'Look, goof-ball -- use the -b option!'|wordwrap(12, break_on_hyphens=false) }}",
     "Look,\ngoof-ball --\nuse the -b\noption!"},
    {"{{ 'Look, goof-ball -- use the -b option!'|wordwrap(12, break_on_hyphens=1) }}",
     "Look,\ngoof-ball --\nuse the -b\noption!"},
    {"{{ 'a verylongwordindeed b-c-d-e-f-g-h'|wordwrap(5) }}",
     "a ver\nylong\nwordi\nndeed\nb-c-\nd-e-\nf-g-h"},
    {"{{ 'a verylongwordindeed b'|wordwrap(5, false) }}", "a\nverylongwordindeed\nb"},
    {"{{ 'a verylong-word b-c ----x'|wordwrap(width=6, wrapstring=' | ') }}",
     "a very | long- | word | b-c | ----x"},
    {"{{ '   \\n  x  y\\r\\n\\nlast \\u2003 z '|wordwrap(3) }}", "\n  x\ny\n\nlas\nt \nz"},
    {"{{ 'aa-bb-cc'|wordwrap(3) }} {{ 'bar-baz -a-b-c x--y'|wordwrap(3, wrapstring='|') }}"
     " {{ '--------a'|wordwrap(4, wrapstring='|') }}",
     "aa-\nbb-\ncc bar|-|baz|-a-|b-c|x--|y ----|----|a"},
    {"{{ '\303\244\303\266-\303\274\303\237 \346\227\245\346\234\254\350\252\236\343\203\206"
     "\343\202\255\343\202\271\343\203\210'|wordwrap(4, wrapstring='|') }}",
     "\303\244\303\266-|\303\274\303\237 \346\227\245|\346\234\254\350\252\236\343\203\206"
     "\343\202\255|\343\202\271\343\203\210"},
    {"{{ ''|wordwrap(1) }}{{ 'x'|wordwrap(9223372036854775807) }}{{ 'x y'|wordwrap(10**30)"
     " }}",
     "xx y"},
    {"{{ '    '|wordwrap(2, false) }}|", "|"},
    {"{{ 'x'|wordwrap(0) }}", NULL},
    {"{{ 'x'|wordwrap('a') }}", NULL},
    {"{{ 5|wordwrap }}", NULL},
    {"{{ 'x'|wordwrap(5, true, 7) }}", NULL},
    {"{{ 'see http://example.com, (https://www.a.bc/x?y=(1)) and www.foo.de.'|urlize }}",
     "see <a href=\"http://example.com\" rel=\"noopener\">http://example.com</a>, (<a href"
     "=\"https://www.a.bc/x?y=(1)\" rel=\"noopener\">https://www.a.bc/x?y=(1)</a>) and <a "
     "href=\"https://www.foo.de\" rel=\"noopener\">www.foo.de</a>."},
    {"{{ 'foo.com a.b.org/x foo.comx 123.com localhost http://localhost:80 http://localhos"
     "t:123456'|urlize }}",
     "<a href=\"https://foo.com\" rel=\"noopener\">foo.com</a> a.b.org/x foo.comx <a href="
     "\"https://123.com\" rel=\"noopener\">123.com</a> localhost <a href=\"http://localhos"
     "t:80\" rel=\"noopener\">http://localhost:80</a> http://localhost:123456"},
    {"{{ 'x@y.z mailto:a@b.cd. @a@b.c a@b <a@b.c>, www.a@b.cc x:y@z.w'|urlize }}",
     "<a href=\"mailto:x@y.z\">x@y.z</a> <a href=\"mailto:a@b.cd\">a@b.cd</a>. @a@b.c a@b "
     "&lt;<a href=\"mailto:a@b.c\">a@b.c</a>&gt;, www.a@b.cc x:y@z.w"},
    {"{{ 'http://1.2.3.4:80/x http://1.2.3.4567 https://[::1]/ https://[1:2:3:4:5:6:7:8]:4"
     "43 http://[abcde::] http://[1:2:3] https://[::g]'|urlize }}",
     "<a href=\"http://1.2.3.4:80/x\" rel=\"noopener\">http://1.2.3.4:80/x</a> http://1.2."
     "3.4567 <a href=\"https://[::1]/\" rel=\"noopener\">https://[::1]/</a> <a href=\"http"
     "s://[1:2:3:4:5:6:7:8]:443\" rel=\"noopener\">https://[1:2:3:4:5:6:7:8]:443</a> http:"
     "//[abcde::] <a href=\"http://[1:2:3]\" rel=\"noopener\">http://[1:2:3]</a> https://["
     "::g]"},
    {"{{ 'http://example.com/a/long/path'|urlize(10) }} {{ 'http://example.com'|urlize(-3,"
     " target='_blank', rel='me nofollow', nofollow=true) }} {{ 'a.com'|urlize(0) }}",
     "<a href=\"http://example.com/a/long/path\" rel=\"noopener\">http://exa...</a> <a hre"
     "f=\"http://example.com\" rel=\"me nofollow noopener\" target=\"_blank\">http://examp"
     "le....</a> a.com"},
    {"{{ 'tel:5 ftp://x.y z'|urlize(extra_schemes=['tel:', 'ftp://']) }}",
     "<a href=\"tel:5\" rel=\"noopener\">tel:5</a> <a href=\"ftp://x.y\" rel=\"noopener\">"
     "ftp://x.y</a> z"},
    {"{{ 'x'|urlize(extra_schemes=['tel']) }}", NULL},
    {"{{ 'x'|urlize(extra_schemes=['t:']) }}", NULL},
    {"{{ 'x'|urlize(rel=5) }}", NULL},
    {"{{ '<b>a.com&x</b> \"b.org\" c.net\\'s'|urlize }} {% autoescape true %}{{ '<i>http:/"
     "/a.bc'|urlize }}{{ '<i>d.com'|safe|urlize }}{% endautoescape %}",
     "&lt;b&gt;a.com&amp;x&lt;/b&gt; &#34;b.org&#34; c.net&#39;s &lt;i&gt;http://a.bc<i>d."
     "com"},
    {"{{ 'www.xn--abc http://xn--p1ai HTTPS://EXAMPLE.COM/A \303\251.com \303\251\303\251."
     "com a%b.com http://a..b.cc (((a.com))) <http://e.com/<b>> .com'|urlize }}",
     "<a href=\"https://www.xn--abc\" rel=\"noopener\">www.xn--abc</a> <a href=\"http://xn"
     "--p1ai\" rel=\"noopener\">http://xn--p1ai</a> <a href=\"https://HTTPS://EXAMPLE.COM/"
     "A\" rel=\"noopener\">HTTPS://EXAMPLE.COM/A</a> \303\251.com <a href=\"https://\303\251"
     "\303\251.com\" rel=\"noopener\">\303\251\303\251.com</a> <a href=\"https://a%b.com\""
     " rel=\"noopener\">a%b.com</a> http://a..b.cc (((a.com))) &lt;<a href=\"http://e.com/"
     "&lt;b&gt;\" rel=\"noopener\">http://e.com/&lt;b&gt;</a>&gt; .com"},
    {"{{ 5|urlize }} {{ ['a.com']|urlize }}", "5 [&#39;a.com&#39;]"},
    {"{{ [1, 'a', none, true, 2.5, 10**30]|pprint }} {{ {'b': 1, 'a': [1, {'d': 2, 'c': 3}"
     "]}|pprint }} {{ 'it\\'s'|pprint }} {{ missing|pprint }} {{ ()|pprint }} {{ (1,)|ppri"
     "nt }}",
     "[1, 'a', None, True, 2.5, 1000000000000000000000000000000] {'a': [1, {'c': 3, 'd': 2"
     "}], 'b': 1} \"it's\" Undefined () (1,)"},
    {"{{ {'name': 'get_weather', 'description': 'Get the weather of a city, today or on an"
     "other day, in a unit that is given', 'parameters': {'type': 'object', 'properties': "
     "{'city': {'type': 'string'}, 'unit': {'type': 'string', 'enum': ['celsius', 'fahrenh"
     "eit']}}, 'required': ['city']}}|pprint }}",
     "{'description': 'Get the weather of a city, today or on another day, in a unit '\n  "
     "              'that is given',\n 'name': 'get_weather',\n 'parameters': {'properties"
     "': {'city': {'type': 'string'},\n                               'unit': {'enum': ['c"
     "elsius', 'fahrenheit'],\n                                        'type': 'string'}},"
     "\n                'required': ['city'],\n                'type': 'object'}}"},
    {"{{ ('word ' * 30)|pprint }}",
     "('word word word word word word word word word word word word word word word '\n 'wo"
     "rd word word word word word word word word word word word word word word ')"},
    {"{{ ['line one\\nline two that is longer than the others, by some words\\n' * 2, 'x' "
     "* 90, ('\346\227\245\346\234\254 ' * 30)]|pprint }}",
     "['line one\\n'\n 'line two that is longer than the others, by some words\\n'\n 'line"
     " one\\n'\n 'line two that is longer than the others, by some words\\n',\n 'xxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',\n"
     " '\346\227\245\346\234\254 \346\227\245\346\234\254 \346\227\245\346\234\254 \346\227"
     "\245\346\234\254 \346\227\245\346\234\254 \346\227\245\346\234\254 \346\227\245\346\234"
     "\254 \346\227\245\346\234\254 \346\227\245\346\234\254 \346\227\245\346\234\254 \346"
     "\227\245\346\234\254 \346\227\245\346\234\254 \346\227\245\346\234\254 \346\227\245\346"
     "\234\254 \346\227\245\346\234\254 \346\227\245\346\234\254 \346\227\245\346\234\254 "
     "\346\227\245\346\234\254 \346\227\245\346\234\254 \346\227\245\346\234\254 \346\227\245"
     "\346\234\254 \346\227\245\346\234\254 \346\227\245\346\234\254 \346\227\245\346\234\254"
     " \346\227\245\346\234\254 '\n '\346\227\245\346\234\254 \346\227\245\346\234\254 \346"
     "\227\245\346\234\254 \346\227\245\346\234\254 \346\227\245\346\234\254 ']"},
    {"{{ {('key ' * 25): [1, 2], none: 1, 3: 2, true: 1, 2.5: 'x' * 70, (1, 2): 3}|pprint "
     "}}",
     "{None: 1,\n True: 1,\n 2.5: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxx',\n 3: 2,\n 'key key key key key key key key key key key key key key"
     " key key key key key key key key key key key ': [1,\n                               "
     "                                                                           2],\n (1,"
     " 2): 3}"},
    {"{{ [range(3), 'a'|e, [[['x' * 76]]], ('y' * 80,), {'z': {}}]|pprint }} {{ [{'b': 1, "
     "'a': 'x' * 80}]|groupby('b')|pprint }}",
     "[range(0, 3),\n Markup('a'),\n [[['xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxx']]],\n ('yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
     "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy',),\n {'z': {}}] [(1, [{'b': 1, 'a': 'xxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'}])]"},
    {"{{ ''|random }}|{{ []|random }}|{{ range(0)|random }}|{{ [7]|random }}|{{ '\303\251'"
     "|random }}|{{ range(3, 4)|random }}",
     "|||7|\303\251|3"},
    {"{{ {'a': 1}|random }}", NULL},
    {"{{ 5|random }}", NULL},
};

#endif
