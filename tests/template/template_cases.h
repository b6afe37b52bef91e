/* Templates, and what Jinja 3.1.6 in Python makes of them with the variables below, in the sandbox and
 * with the settings of transformers. */
#ifndef TEST_TEXT_TEMPLATE_CASES_H
#define TEST_TEXT_TEMPLATE_CASES_H

static const char case_variables[] =
    "{\"s\": \"Hello w\303\266rld\", \"e\": \"\", \"n\": null, \"t\": true, \"i\": 7, \"f\": 2.5, "
    "\"l\": [3, 1, 2], \"d\": {\"b\": 1, \"a\": [1, 2], \"c\": {\"x\": null}}, \"m\": [{\"role\": "
    "\"user\", \"content\": \"hi\"}, {\"role\": \"assistant\", \"content\": \"yo\", \"n\": 2}], "
    "\"u\": \"\346\227\245\346\234\254\350\252\236 "
    "\343\203\206\343\202\255\343\202\271\343\203\210\", \"h\": \"<a href=\\\"x\\\">T's & b</a>\"}";

static const struct {
    const char *source, *expected;
} template_cases[] = {
    {"{{ -3|abs }} {{ 2.5|abs }} {{ true|abs }}", "3 2.5 1"},
    {"{{ (7**50 // 3**40) % 10**12 }} {{ '%x' % 2**70 }} {{ 10**25 / 3 }}",
     "52681333032 400000000000000000 3.3333333333333333e+24"},
    {"{{ 'a-b well-known words'|wordwrap(5) }}", "a-b\nwell-\nknown\nwords"},
    {"{{ '(see ab.com)'|urlize(4) }}",
     "(see <a href=\"https://ab.com\" rel=\"noopener\">ab.c...</a>)"},
    {"{{ (d, 'x' * 70)|pprint }}",
     "({'a': [1, 2], 'b': 1, 'c': {'x': None}},\n "
     "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx')"},
    {"{{ d|attr('b') is defined }} {{ 'x'|attr('upper') is callable }}", "False True"},
    {"{{ l|batch(2)|list }} {{ l|batch(2,'x')|list }} {{ []|batch(3)|list }}",
     "[[3, 1], [2]] [[3, 1], [2, 'x']] []"},
    {"{{ s|capitalize }}|{{ 5|capitalize }}|{{ '\307\206a'|capitalize }}",
     "Hello w\303\266rld|5|\307\205a"},
    {"[{{ 'ab'|center(5) }}][{{ 'abc'|center(6) }}][{{ 'ab'|center(1) }}][{{ u|center(12) }}]",
     "[  ab ][ abc  ][ab][  \346\227\245\346\234\254\350\252\236 "
     "\343\203\206\343\202\255\343\202\271\343\203\210  ]"},
    {"{{ l|count }} {{ d|length }} {{ ''|length }} {{ missing|length }}", "3 3 0 0"},
    {"{{ missing|d }}|{{ n|d('x') }}|{{ n|default('x',true) }}|{{ 0|default(boolean=true, "
     "default_value='z') }}",
     "|None|x|z"},
    {"{{ d|dictsort }}", "[('a', [1, 2]), ('b', 1), ('c', {'x': None})]"},
    {"{{ {'B':1,'a':2,'C':0}|dictsort }} {{ {'B':1,'a':2,'C':0}|dictsort(true) }} {{ "
     "{'B':1,'a':2,'C':0}|dictsort(by='value',reverse=true) }}",
     "[('a', 2), ('B', 1), ('C', 0)] [('B', 1), ('C', 0), ('a', 2)] [('a', 2), ('B', 1), ('C', "
     "0)]"},
    {"{{ h|e }} {{ h|escape|escape }} {{ h|safe|e }} {{ h|safe|forceescape }} {{ 3|e }}",
     "&lt;a href=&#34;x&#34;&gt;T&#39;s &amp; b&lt;/a&gt; &lt;a href=&#34;x&#34;&gt;T&#39;s &amp; "
     "b&lt;/a&gt; <a href=\"x\">T's & b</a> &lt;a href=&#34;x&#34;&gt;T&#39;s &amp; b&lt;/a&gt; 3"},
    {"{{ l|first }} {{ s|first }} {{ d|first }} {{ []|first is defined }} {{ l|last }} {{ d|last "
     "}} {{ s|last }} {{ range(3)|last }} {{ []|last is defined }}",
     "3 H b False 2 c d 2 False"},
    {"{{ '3.5'|float }} {{ 'x'|float }} {{ 'x'|float(1.5) }} {{ ' 1e3 '|float }} {{ 'inf'|float }} "
     "{{ 'nan'|float }} {{ 3|float }} {{ true|float }} {{ n|float }} {{ '1_000.5'|float }}",
     "3.5 0.0 1.5 1000.0 inf nan 3.0 1.0 0.0 1000.5"},
    {"{{ '%s-%05d-%x-%.2f-%5s|%-5s|%%'|format('a',42,255,3.14159,'b','c') }}",
     "a-00042-ff-3.14-    b|c    |%"},
    {"{{ '%(a)s %(b)d'|format(a=1,b=2) }}", "1 2"},
    {"{% for g in m|groupby('role') %}{{ g.grouper }}={{ g.list|length }} {{ g[0] }} {% endfor %}",
     "assistant=1 assistant user=1 user "},
    {"{% for k,v in [{'k':'B','v':1},{'k':'a','v':2},{'k':'b','v':3}]|groupby('k') %}{{ k }}:{{ "
     "v|map(attribute='v')|list }} {% endfor %}",
     "a:[2] B:[1, 3] "},
    {"{% for k,v in [{'k':1},{},{'k':1}]|groupby('k',default=0) %}{{ k }}:{{ v|length }} {% endfor "
     "%}",
     "0:1 1:2 "},
    {"{{ 'a\nb\n\nc\n'|indent }}|{{ 'a\nb'|indent('> ') }}|{{ 'a\n\nb'|indent(2,true,true) }}|{{ "
     "''|indent(2,true) }}|{{ 'a\015\nb\013c'|indent(1) }}",
     "a\n    b\n\n    c\n|a\n> b|  a\n  \n  b|  |a\n b\n c"},
    {"{{ '12'|int }} {{ '12.7'|int }} {{ 'x'|int(3) }} {{ '0x1f'|int(0,16) }} {{ '0b11'|int(0,0) "
     "}} {{ 3.9|int }} {{ -3.9|int }} {{ true|int }} {{ n|int }} {{ ' 5 '|int }} {{ '1_0'|int }} "
     "{{ '-7'|int }} {{ 'ff'|int(base=16) }} {{ '1e3'|int }} {{ []|int }}",
     "12 12 3 31 3 3 -3 1 0 5 10 -7 255 1000 0"},
    {"{{ d|items|list }} {{ missing|items|list }}",
     "[('b', 1), ('a', [1, 2]), ('c', {'x': None})] []"},
    {"{{ l|join }} {{ l|join(', ') }} {{ m|join('|',attribute='role') }} {{ "
     "[1,none,2.0,true,'x']|join('-') }} {{ s|join('.') }} {{ d|join(',') }}",
     "312 3, 1, 2 user|assistant 1-None-2.0-True-x H.e.l.l.o. .w.\303\266.r.l.d b,a,c"},
    {"{{ s|list }} {{ d|list }} {{ range(3)|list }} {{ d.items()|list }}",
     "['H', 'e', 'l', 'l', 'o', ' ', 'w', '\303\266', 'r', 'l', 'd'] ['b', 'a', 'c'] [0, 1, 2] "
     "[('b', 1), ('a', [1, 2]), ('c', {'x': None})]"},
    {"{{ s|lower }} {{ s|upper }} {{ '\316\221\316\243 \316\237\316\243'|lower }} {{ "
     "'stra\303\237e'|upper }} {{ '\305\211'|upper }} {{ 5|upper }} {{ none|upper }}",
     "hello w\303\266rld HELLO W\303\226RLD \316\261\317\202 \316\277\317\202 STRASSE \312\274N 5 "
     "NONE"},
    {"{{ m|map(attribute='role')|list }} {{ m|map(attribute='n',default=0)|list }} {{ "
     "l|map('string')|list }} {{ ['a','b']|map('replace','a','z')|join }} {{ "
     "m|map(attribute='content.0')|list }} {{ none|map('upper')|list }} {{ "
     "[[1,2],[3]]|map('first')|list }} {{ [1.23]|map('round',1)|list }}",
     "['user', 'assistant'] [0, 2] ['3', '1', '2'] zb ['h', 'y'] [] [1, 3] [1.2]"},
    {"{{ l|max }} {{ l|min }} {{ ['b','A']|min }} {{ ['b','A']|max(case_sensitive=true) }} {{ "
     "m|max(attribute='role') }} {{ []|max is defined }}",
     "3 1 A b {'role': 'user', 'content': 'hi'} False"},
    {"{{ l|reject('odd')|list }} {{ l|select('gt',1)|list }} {{ [0,1,'',none]|select|list }} {{ "
     "[0,1,'',none]|reject|list }} {{ none|select('odd')|list }}",
     "[2] [3, 2] [1] [0, '', None] []"},
    {"{{ m|selectattr('n')|list|length }} {{ m|selectattr('n','defined')|map(attribute='n')|list "
     "}} {{ m|rejectattr('role','eq','user')|list }} {{ "
     "m|selectattr('role','in',['user'])|list|length }} {{ "
     "m|selectattr('role','string')|list|length }}",
     "1 [2] [{'role': 'assistant', 'content': 'yo', 'n': 2}] 1 2"},
    {"{{ s|replace('l','L') }} {{ s|replace('l','L',1) }} {{ 'aaa'|replace('','-') }} {{ "
     "'aaa'|replace('','-',2) }} {{ 123|replace(2,'x') }} {{ u|replace('\346\234\254','') }} {{ "
     "'abab'|replace('ab','') }}",
     "HeLLo w\303\266rLd HeLlo w\303\266rld -a-a-a- -a-aa 1x3 \346\227\245\350\252\236 "
     "\343\203\206\343\202\255\343\202\271\343\203\210 "},
    {"{{ s|reverse }} {{ l|reverse|list }} {{ d|reverse|list }} {{ u|reverse }}",
     "dlr\303\266w olleH [2, 1, 3] ['c', 'a', 'b'] "
     "\343\203\210\343\202\271\343\202\255\343\203\206 \350\252\236\346\234\254\346\227\245"},
    {"{{ 2.5|round }} {{ 3.5|round }} {{ 2.675|round(2) }} {{ 42|round }} {{ 42.3|round(0,'ceil') "
     "}} {{ 42.7|round(method='floor') }} {{ 1234.5678|round(-2) }} {{ 0.1|round(3) }} {{ "
     "1e20|round }} {{ 42.55|round(1,'floor') }} {{ true|round }} {{ -2.5|round }}",
     "2.0 4.0 2.67 42 43.0 42.0 1200.0 0.1 1e+20 42.5 1 -2.0"},
    {"{{ (h|safe) }}{{ h|safe ~ '<' }}{{ (h|safe) + '<' }}{{ '<' + (h|safe) }}{{ (h|safe)|upper "
     "}}{{ (h|safe)[0:3] + '&' }}",
     "<a href=\"x\">T's & b</a><a href=\"x\">T's & b</a><<a href=\"x\">T's & b</a>&lt;&lt;<a "
     "href=\"x\">T's & b</a><A HREF=\"X\">T'S & B</A><a &amp;"},
    {"{{ range(7)|slice(3)|list }} {{ range(7)|slice(3,'x')|list }} {{ []|slice(2)|list }}",
     "[[0, 1, 2], [3, 4], [5, 6]] [[0, 1, 2], [3, 4, 'x'], [5, 6, 'x']] [[], []]"},
    {"{{ l|sort }} {{ l|sort(true) }} {{ ['b','A','c']|sort }} {{ "
     "['b','A','c']|sort(case_sensitive=true) }} {{ "
     "m|sort(attribute='content')|map(attribute='content')|list }} {{ "
     "[{'a':1,'b':2},{'a':1,'b':1},{'a':0,'b':9}]|sort(attribute='a,b') }} {{ "
     "[[2,'a'],[1,'b']]|sort }} {{ ['a','B','a','b']|sort(reverse=true) }} {{ [1,2.5,true]|sort }}",
     "[1, 2, 3] [3, 2, 1] ['A', 'b', 'c'] ['A', 'b', 'c'] ['hi', 'yo'] [{'a': 0, 'b': 9}, {'a': 1, "
     "'b': 1}, {'a': 1, 'b': 2}] [[1, 'b'], [2, 'a']] ['B', 'b', 'a', 'a'] [1, True, 2.5]"},
    {"{{ 5|string }}{{ none|string }}{{ 1.0|string }}{{ [1,'a']|string }}{{ d|string|length }}",
     "5None1.0[1, 'a']39"},
    {"{{ '<p>a <b>b</b>\n c &lt;&amp; &#39;x</p><!-- c -->z'|striptags }} {{ 'a < b'|striptags }} "
     "{{ 'a <!-- x > y'|striptags }}",
     "a b c <& 'xz a < b a y"},
    {"{{ l|sum }} {{ [1.5,2]|sum }} {{ m|sum(attribute='n',start=1) if false }} {{ "
     "[{'n':1},{'n':2}]|sum(attribute='n',start=10) }} {{ []|sum }} {{ [[1],[2]]|sum(start=[]) }}",
     "6 3.5  13 0 [1, 2]"},
    {"{{ 'hello w\303\266rld-foo (bar) [x] {y} <z> it\\'s'|title }} {{ 'ABC dEF'|title }}",
     "Hello W\303\266rld-Foo (Bar) [X] {Y} <Z> It's Abc Def"},
    {"{{ d|tojson }} {{ d|tojson(indent=2) }} {{ d|tojson(separators=(',',':')) }} {{ "
     "d|tojson(sort_keys=true,indent='\t') }} {{ u|tojson(ensure_ascii=true) }} {{ "
     "'\360\237\231\202\001\177\342\200\250'|tojson }} {{ '\360\237\231\202\177'|tojson(true) }} "
     "{{ {1:2,none:3,true:4,1.5:5}|tojson }} {{ h|safe|tojson }} {{ [[],{}]|tojson(indent=1) }} {{ "
     "1e100|tojson }} {{ 'inf'|float|tojson }} {{ d|tojson(indent=0) }} {{ (1,)|tojson }}",
     "{\"b\": 1, \"a\": [1, 2], \"c\": {\"x\": null}} {\n  \"b\": 1,\n  \"a\": [\n    1,\n    2\n  "
     "],\n  \"c\": {\n    \"x\": null\n  }\n} {\"b\":1,\"a\":[1,2],\"c\":{\"x\":null}} {\n\t\"a\": "
     "[\n\t\t1,\n\t\t2\n\t],\n\t\"b\": 1,\n\t\"c\": {\n\t\t\"x\": null\n\t}\n} "
     "\"\\u65e5\\u672c\\u8a9e \\u30c6\\u30ad\\u30b9\\u30c8\" "
     "\"\360\237\231\202\\u0001\177\342\200\250\" \"\\ud83d\\ude42\\u007f\" {\"1\": 4, \"null\": "
     "3, \"1.5\": 5} \"<a href=\\\"x\\\">T's & b</a>\" [\n [],\n {}\n] 1e+100 Infinity {\n\"b\": "
     "1,\n\"a\": [\n1,\n2\n],\n\"c\": {\n\"x\": null\n}\n} [1]"},
    {"[{{ '  x '|trim }}] [{{ 'xxaxx'|trim('x') }}] [{{ '\343\200\200a\302\205'|trim }}] [{{ "
     "5|trim }}] [{{ 'abcba'|trim('ab') }}] [{{ ' a '|trim(none) }}]",
     "[x] [a] [a] [5] [c] [a]"},
    {"{{ 'foo bar baz qux'|truncate(9) }} {{ 'foo bar baz qux'|truncate(9,true) }} {{ 'foo bar baz "
     "qux'|truncate(11) }} {{ 'foo bar baz qux'|truncate(9,false,'..',0) }} {{ "
     "u|truncate(5,true,'\342\200\246',0) }} {{ 'abc'|truncate(3,leeway=0) }}",
     "foo... foo ba... foo bar baz qux foo.. \346\227\245\346\234\254\350\252\236 \342\200\246 "
     "abc"},
    {"{{ [1,2,1,'a','A',1.0,true]|unique|list }} {{ ['b','B']|unique(true)|list }} {{ "
     "m|unique(attribute='role')|list|length }} {{ [none,none]|unique|list }} {{ "
     "[(1,2),(1,2)]|unique|list }}",
     "[1, 2, 'a'] ['b', 'B'] 2 [None] [(1, 2)]"},
    {"{{ 'a b/c?d=\303\251&~'|urlencode }} {{ {'a b':'c/d','e':1}|urlencode }} {{ [['x','y "
     "z']]|urlencode }} {{ 5|urlencode }}",
     "a%20b/c%3Fd%3D%C3%A9%26~ a+b=c%2Fd&e=1 x=y+z 5"},
    {"{{ 'a b  c_d,e \303\251'|wordcount }} {{ ''|wordcount }}", "5 0"},
    {"<x{{ {'a':1,'b':none,'c':'<\"','d':missing}|xmlattr }}> {{ {}|xmlattr }}|{{ "
     "{'a':1}|xmlattr(false) }}",
     "<x a=\"1\" c=\"&lt;&#34;\"> |a=\"1\""},
    {"{{ true is boolean }}{{ 1 is boolean }}{{ range is callable }}{{ s is callable }}{{ s.upper "
     "is callable }}{{ missing is defined }}{{ n is defined }}{{ 9 is divisibleby 3 }}{{ 9 is "
     "divisibleby(2) }}",
     "TrueFalseTrueFalseTrueFalseTrueTrueFalse"},
    {"{{ 1 is eq 1 }}{{ 1 is ne 2 }}{{ 1 is lt 2 }}{{ 1 is le 1 }}{{ 2 is gt 1 }}{{ 2 is ge 2 }}{{ "
     "'a' is equalto 'a' }}{{ 1 is lessthan 2 }}{{ 1 is greaterthan 2 }}{{ 1 is sameas 1 }}{{ true "
     "is sameas true }}{{ 1 is sameas true }}",
     "TrueTrueTrueTrueTrueTrueTrueTrueFalseTrueTrueFalse"},
    {"{{ (h|e) is escaped }}{{ h is escaped }}{{ 2 is even }}{{ 3 is odd }}{{ -1 is odd }}{{ false "
     "is false }}{{ 'upper' is filter }}{{ 'nope' is filter }}{{ 'odd' is test }}{{ 1.0 is float "
     "}}{{ 1 is in [1] }}{{ 'k' is in {'k':1} }}{{ 1 is integer }}{{ true is integer }}",
     "TrueFalseTrueTrueTrueTrueTrueFalseTrueTrueTrueTrueTrueFalse"},
    {"{% for x in [1,1.5,'s',[1],(1,),{'a':1},none,true,missing,range(2)] %}{{ x is iterable }},{{ "
     "x is sequence }},{{ x is mapping }},{{ x is number }},{{ x is string }},{{ x is none }},{{ x "
     "is undefined }} {% endfor %}",
     "False,False,False,True,False,False,False False,False,False,True,False,False,False "
     "True,True,False,False,True,False,False True,True,False,False,False,False,False "
     "True,True,False,False,False,False,False True,True,True,False,False,False,False "
     "False,False,False,False,False,True,False False,False,False,True,False,False,False "
     "True,True,False,False,False,False,True True,True,False,False,False,False,False "},
    {"{{ 'ab' is lower }}{{ 'aB' is lower }}{{ 'AB' is upper }}{{ '1' is upper }}{{ 5 is lower "
     "}}{{ true is true }}{{ 1 is true }}{{ not 1 is odd }}{{ 1 is not odd }}{{ 4 is divisibleby 2 "
     "and true }}{{ d.items() is iterable }}{{ d.items() is sequence }}{{ (l|map('abs')) is "
     "iterable }}",
     "TrueFalseTrueFalseFalseTrueFalseFalseFalseTrueTrueFalseTrue"},
    {"{{ s.capitalize() }} {{ '\303\237'.casefold() }} [{{ 'ab'.center(7,'*') }}] {{ "
     "'banana'.count('an') }} {{ 'banana'.count('a',2) }} {{ 'aaa'.count('') }} {{ "
     "s.endswith('ld') }} {{ s.endswith(('x','ld')) }} {{ 'a\tb'.expandtabs(4) }} {{ s.find('w') "
     "}} {{ s.find('zz') }} {{ u.find('\350\252\236') }} {{ s.rfind('l') }} {{ s.find('l',4) }} {{ "
     "s.find('l',-3,-1) }} {{ ''.find('') }} {{ 'abc'.find('',3) }} {{ 'abc'.find('',4) }}",
     "Hello w\303\266rld ss [***ab**] 2 2 4 True True a   b 6 -1 2 9 9 9 0 3 -1"},
    {"{{ s.index('o') }} {{ s.rindex('l') }} {{ 'a1'.isalnum() }}{{ 'a\303\251'.isalpha() }}{{ "
     "''.isalpha() }}{{ '\303\251'.isascii() }}{{ '1\302\262'.isdigit() }}{{ "
     "'1\302\262'.isdecimal() }}{{ '\302\275'.isnumeric() }}{{ 'a_1'.isidentifier() }}{{ "
     "'ab'.islower() }}{{ 'a b'.isprintable() }}{{ ' \t'.isspace() }}{{ 'Ab Cd'.istitle() }}{{ "
     "'AB'.isupper() }}",
     "4 9 TrueTrueFalseFalseTrueFalseTrueTrueTrueTrueTrueTrueTrue"},
    {"{{ ','.join(['a','b']) }} {{ ''.join(d) }} [{{ 'a'.ljust(3) }}] [{{ 'a'.rjust(3,'0') }}] {{ "
     "'xxa'.lstrip('x') }} {{ 'axx'.rstrip('x') }} {{ 'a,b,c'.partition(',') }} {{ "
     "'a,b,c'.rpartition(',') }} {{ 'abc'.partition('z') }} {{ 'abc'.rpartition('z') }} {{ "
     "'abc'.removeprefix('a') }} {{ 'abc'.removesuffix('c') }} {{ 'abc'.removeprefix('z') }}",
     "a,b bac [a  ] [00a] a a ('a', ',', 'b,c') ('a,b', ',', 'c') ('abc', '', '') ('', '', 'abc') "
     "bc ab abc"},
    {"{{ 'aXbXc'.replace('X','-',1) }} {{ ' a  b c '.split() }} {{ ' a  b c '.split(none,1) }} {{ "
     "'a,b,,c'.split(',') }} {{ 'a,b,,c'.split(',',1) }} {{ ''.split() }} {{ ''.split(',') }} {{ ' "
     "a  b c '.rsplit() }} {{ ' a  b c '.rsplit(none,1) }} {{ 'a,b,,c'.rsplit(',',1) }} {{ "
     "'aaa'.rsplit('aa') }} {{ 'a b'.split(maxsplit=1) }} {{ 'a\342\200\203b'.split() }}",
     "a-bXc ['a', 'b', 'c'] ['a', 'b c '] ['a', 'b', '', 'c'] ['a', 'b,,c'] [] [''] ['a', 'b', "
     "'c'] [' a  b', 'c'] ['a,b,', 'c'] ['a', ''] ['a', 'b'] ['a', 'b']"},
    {"{{ 'a\nb\015\nc\n\n'.splitlines() }} {{ 'a\nb\015\n'.splitlines(true) }} {{ ''.splitlines() "
     "}} {{ 'a\302\205b\342\200\250c'.splitlines() }} {{ s.startswith('He') }}{{ "
     "s.startswith('e',1) }}{{ s.startswith('') }} {{ 'aBc'.swapcase() }} {{ \"they're "
     "bill's\".title() }} {{ '\307\206'.title() }} {{ '42'.zfill(5) }} {{ '-42'.zfill(5) }} {{ "
     "'ab'.zfill(1) }}",
     "['a', 'b', 'c', ''] ['a\\n', 'b\\n'] [] ['a', 'b', 'c'] TrueTrueTrue AbC They'Re Bill'S "
     "\307\205 00042 -0042 ab"},
    {"{{ '{} {}'.format(1,'a') }} {{ '{1} {0}'.format(1,2) }} {{ '{a} {b[x]} "
     "{b.x}'.format(a=1,b={'x':5}) }} {{ '{{}}'.format() }} {{ '{!r} {!s}'.format('a','b') }} {{ "
     "'{:>5}|{:<5}|{:^5}|{:*^5}'.format('a','b','c','d') }} {{ '{:05d} {:+d} {: d} {:x} {:#X} {:b} "
     "{:o} {:#o} {:c} {:,} {:_}'.format(42,42,42,255,255,5,8,8,65,1234567,1234567) }}",
     "1 a 2 1 1 5 5 {} 'a' b     a|b    |  c  |**d** 00042 +42  42 ff 0XFF 101 10 0o10 A 1,234,567 "
     "1_234_567"},
    {"{{ '{:.2f} {:8.3f}| {:<8.1f}| {:e} {:g} {:G} {:%} {:.0f} {} "
     "{:,.2f}'.format(3.14159,2.5,2.5,12345.678,0.0001,1e20,0.256,2.5,1e16,1234567.891) }} {{ "
     "'{:.3}'.format('abcdef') }} {{ '{:{w}}|'.format('a',w=4) }} {{ '{0:>{1}}'.format('x',3) }} "
     "{{ '{:5}|{:5}|{:5}'.format(1,'a',true) }} {{ '{:.3}'.format(2.0) }} {{ "
     "'{:g}'.format(100000.0) }} {{ '{:.3g}'.format(1234.5) }} {{ '{:010.2f}'.format(-3.14159) }} "
     "{{ '{:>+8d}'.format(5) }} {{ '{:=+8d}'.format(5) }}",
     "3.14    2.500| 2.5     | 1.234568e+04 0.0001 1E+20 25.600000% 2 1e+16 1,234,567.89 abc a   | "
     "  x     1|a    |    1 2.0 100000 1.23e+03 -000003.14       +5 +      5"},
    {"{{ '{a}'.format_map({'a':1}) }} {{ '{0.role}{0[role]}'.format(m[0]) }}", "1 useruser"},
    {"{{ 7//2 }} {{ -7//2 }} {{ 7%3 }} {{ -7%3 }} {{ 7%-3 }} {{ -7.5//2 }} {{ 7.5%2 }} {{ -7.5%2 "
     "}} {{ 2**10 }} {{ 2**-1 }} {{ 2.0**0.5 }} {{ 7/2 }} {{ 4/2 }} {{ 1e308*10 }} {{ 0.1+0.2 }} "
     "{{ 1/3 }} {{ 10**15/3 }} {{ 1e15 }} {{ 1e16 }} {{ 123456789.123 }} {{ 1e-5 }} {{ 0.0001 }} "
     "{{ -0.0 }} {{ 5e-324 }} {{ 1.7976931348623157e308 }}",
     "3 -4 1 2 -2 -4.0 1.5 0.5 1024 0.5 1.4142135623730951 3.5 2.0 inf 0.30000000000000004 "
     "0.3333333333333333 333333333333333.3 1000000000000000.0 1e+16 123456789.123 1e-05 0.0001 "
     "-0.0 5e-324 1.7976931348623157e+308"},
    {"{{ 1<2<3 }} {{ 1<3<2 }} {{ 1==1.0==true }} {{ 'a'<'b' }} {{ [1,2]<[1,3] }} {{ (1,)<(1,2) }} "
     "{{ 'a' in s }} {{ 'H' in s }} {{ 1 not in l }} {{ 'b' in d }} {{ none in [none] }} {{ 1 in "
     "[true] }} {{ '' in '' }} {{ {'a':1}=={'a':1.0} }} {{ [1,[2]]==[1,[2.0]] }} {{ none==missing "
     "}} {{ missing==missing2 }} {{ not none }} {{ s and 1 }} {{ e or 'x' }} {{ e and 1 }}|{{ none "
     "or missing or 0 }} {{ (1,2)==[1,2] }} {{ range(2)==range(2) }} {{ '\303\251'<'z' }} {{ 2 in "
     "range(3) }}",
     "True False True True True True False True False True True True True True True False True "
     "True 1 x |0 False True False True"},
    {"{{ 'y' if t else 'n' }}{{ 'y' if n }}|{{ ('a' if n else 'b') ~ 'c' }} {{ 1 if t if t else 2 "
     "}} {{ l[0] }} {{ l[-1] }} {{ l[9] }}| {{ l[1:] }} {{ l[::-1] }} {{ l[:-1] }} {{ l[5:1] }} {{ "
     "s[1:4] }} {{ s[::-2] }} {{ u[1:3] }} {{ u[-2:] }} {{ u[5] }} {{ (1,2,3)[1:] }} {{ "
     "range(10)[2:8:2]|list }} {{ l[true] }} {{ l.0 }} {{ d.a.1 }} {{ d['c']['x'] }} {{ "
     "s['upper']() }} {{ n.x }}| {{ d.items()|list|length }} {{ l[none:2] }} {{ l['x'] }}| {{ "
     "s[100] }}|",
     "y|bc 1 3 2 | [1, 2] [2, 1, 3] [3, 1] [] ell drwolH \346\234\254\350\252\236 "
     "\343\202\271\343\203\210 \343\202\255 (2, 3) [2, 4, 6] 1 3 2 None HELLO W\303\226RLD | 3 [3, "
     "1] | |"},
    {"{{ 1_000 }} {{ 0x_ff }} {{ 0b1_0 }} {{ 0o17 }} {{ 1e3 }} {{ 1.5E-3 }} {{ 1_0.5_0 }} {{ 00 }} "
     "{{ 'a' 'b' }} {{ '\\x41\\u00e9\\101\\U0001F642\\q\\\n' }} {{ \"d'q\" }} {{ "
     "12345678901234567890 }} {{ [12345678901234567890] }} {{ 12345678901234567890|tojson }} {{ "
     "9223372036854775807 }}",
     "1000 255 2 15 1000.0 0.0015 10.5 0 ab A\303\251A\360\237\231\202\\q d'q 12345678901234567890 "
     "[12345678901234567890] 12345678901234567890 9223372036854775807"},
    {"{{ True }} {{ False }} {{ None }}", "True False None"},
    {"{% for i in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ "
     "loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }}{{ "
     "loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('a','b') }}{{ loop.changed(i>1) }};{% "
     "endfor %}",
     "1032TrueFalse3101aTrue;2121FalseFalse31032bTrue;3210FalseTrue3101aTrue;"},
    {"{% for i in l if i>1 %}{{ loop.index }}/{{ loop.length }}{{ loop.last }}{{ loop.nextitem }} "
     "{% else %}none{% endfor %}{% for i in l if i>9 %}{{ i }}{% else %}none{% endfor %}",
     "1/2False2 2/2True none"},
    {"{% set ns=namespace(skip=2) %}{% for i in range(6) if i!=ns.skip %}{{ i }}{% if i==1 %}{% "
     "set ns.skip=3 %}{% endif %}{% endfor %}",
     "01245"},
    {"{% for n in [{'v':1,'c':[{'v':2,'c':[]},{'v':3,'c':[{'v':4,'c':[]}]}]}] recursive %}{{ "
     "loop.depth }}:{{ n.v }}{% if n.c %}[{{ loop(n.c) }}]{% endif %}{% endfor %}",
     "1:1[2:22:3[3:4]]"},
    {"{% for i in range(5) %}{% if i==1 %}{% continue %}{% endif %}{% if i==3 %}{% break %}{% "
     "endif %}{{ i }}{% endfor %}",
     "02"},
    {"{% for k,v in d.items() %}{{ k }}={{ v }};{% endfor %}{% for k in d %}{{ k }}{% endfor %}{% "
     "for (a,b),c in [[[1,2],3]] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
     "b=1;a=[1, 2];c={'x': None};bac123"},
    {"{% for c in u %}{{ c }}.{% endfor %}{% for x in missing %}x{% else %}e{% endfor %}{% for x "
     "in l|map('string') %}{{ loop.last }}{{ x }}{{ loop.length }}{% endfor %}",
     "\346\227\245.\346\234\254.\350\252\236. "
     ".\343\203\206.\343\202\255.\343\202\271.\343\203\210.eFalse33False13True23"},
    {"{% set x=1 %}{% for i in [1,2] %}{{ x }}{% set x=x+1 %}{{ x }}{% endfor %}{{ x }}", "12121"},
    {"{% for i in [1,2] %}{% if y is defined %}{{ y }}{% endif %}{% set y=i %}{{ y }}{% endfor "
     "%}{{ y is defined }}",
     "12False"},
    {"{% set x,y=1,2 %}{{ x }}{{ y }}{% set (a,b)=[3,4] %}{{ a }}{{ b }}{% set z=1,2 %}{{ z }}{% "
     "set q='a' if t else 'b' %}{{ q }}",
     "1234(1, 2)a"},
    {"{% set x %}a{{ 1 }}b{% endset %}{{ x }}{{ x is string }}{% set y|upper|replace('A','z') "
     "%}abc{% endset %}{{ y }}",
     "a1bTruezBC"},
    {"{% with a=1,b=2 %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}{% set a=5 %}{% with a=1,b=a "
     "%}{{ a }}{{ b }}{% endwith %}{{ a }}{% with %}{% set a=9 %}{% endwith %}{{ a }}",
     "12False1555"},
    {"{% if n %}1{% elif e %}2{% elif t %}3{% else %}4{% endif %}{% if not t %}x{% endif %}{% if 0 "
     "%}a{% else %}b{% endif %}",
     "3b"},
    {"{% macro f(a,b='B',c=a) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ f(1) }} {{ f(1,2) }} {{ "
     "f(1,c=3) }} {{ f(b=1,a=2) }} {{ f() }}",
     "1B1 121 1B3 212 B"},
    {"{% macro f(x) %}{{ varargs }}{{ kwargs }}{{ x }}{% endmacro %}{{ f(1,2,3,k=4) }}{{ f(x=1) "
     "}}{{ f.name }}",
     "(2, 3){'k': 4}1(){}1f"},
    {"{% macro d(n) %}<{{ caller(n) if n else caller() }}>{% endmacro %}{% call(x) d(3) %}{{ x*2 "
     "}}{% endcall %}",
     "<6>"},
    {"{% macro d() %}[{{ caller is defined }}{% if caller %}{{ caller() }}{% endif %}]{% endmacro "
     "%}{{ d() }}{% call d() %}in{{ l|length }}{% endcall %}",
     "[False][Truein3]"},
    {"{% macro fact(n) %}{{ 1 if n<2 else n*(fact(n-1)|int) }}{% endmacro %}{{ fact(10) }}",
     "3628800"},
    {"{% set v=1 %}{% macro g() %}{{ v }}{% endmacro %}{% set v=2 %}{{ g() }}{% macro h() %}{{ w "
     "}}{% endmacro %}{% set w=3 %}{{ h() }}{% for w in [9] %}{{ h() }}{% endfor %}",
     "233"},
    {"{% filter upper %}a{{ s }}{% endfilter %}{% filter replace('a','b')|upper %}aaa{% endfilter "
     "%}",
     "AHELLO W\303\226RLDBBB"},
    {"{% set ns=namespace(a=1,b=[]) %}{% set ns.a=ns.a+1 %}{% set ns.c='x' %}{{ ns.a }}{{ ns.b "
     "}}{{ ns.c }}{{ ns.zz is defined }}{% set ns2=namespace({'q':1},r=2) %}{{ ns2.q }}{{ ns2.r }}",
     "2[]xFalse12"},
    {"{% raw %}{{ x }}{% if %}{# c #}{% endraw %}", "{{ x }}{% if %}{# c #}"},
    {"{# c #}a{#- d -#} b {#+ e +#} c", "ab  c"},
    {"a\n  {% if t %}\n  b\n  {% endif %}\n  c", "a\n  b\n  c"},
    {"a\n  {%+ if t %}\n  b\n  {%- endif +%}\n  c", "a\n    b\n  c"},
    {"a \n {{- 'x' -}} \n b", "axb"},
    {"  {% set x=1 -%}  \n\n  b{%- set y=2 %}\nc\n", "bc"},
    {"{% if t -%}\n x\n{%- endif %}\n\n", "x"},
    {"\n\n{% if t %}\n\na\n\n{% endif %}\n\n", "\n\n\na\n\n"},
    {"x {%- raw -%} \n {{ a }} \n {%- endraw -%} \n y", "x{{ a }}y"},
    {"  {% raw %}\n a {% endraw %}\nb", "\n a b"},
    {"a{# x #}\nb\n  {# y #}  \nc", "ab\n  \nc"},
    {"a\015\n{% if t %}\015\nb\015{% endif %}\015c\015\n", "a\nb\nc"},
    {"{{ 'a' }}\n\n", "a\n"},
    {"  {{ 'a' }}  \n", "  a  "},
    {"\t{% if t %}\ta{% endif %}\t\n", "\ta\t"},
    {"{% generation %}a{% set zz=1 %}{% endgeneration %}{{ zz is defined }}{% block b %}B{{ s }}{% "
     "endblock %}{% for i in [1] %}{% block b2 %}{{ i is defined }}{% endblock %}{% endfor %}",
     "aFalseBHello w\303\266rldTrue"},
    {"{% print 1, 2 %}{% autoescape true %}{{ h }}{{ h|safe }}{{ '<' ~ h }}{% set q %}<{{ h }}{% "
     "endset %}{{ q }}{{ ['<','>']|join('&') }}{% endautoescape %}{{ h }}",
     "12&lt;a href=&#34;x&#34;&gt;T&#39;s &amp; b&lt;/a&gt;<a href=\"x\">T's & b</a>&lt;&lt;a "
     "href=&#34;x&#34;&gt;T&#39;s &amp; b&lt;/a&gt;<&lt;a href=&#34;x&#34;&gt;T&#39;s &amp; "
     "b&lt;/a&gt;&lt;&amp;&gt;<a href=\"x\">T's & b</a>"},
    {"{{ strftime_now('%a %A %b %B %d %e %j %m %y %Y %H %I %p %M %S %w %u %U %W %V %G %% %D %F %T "
     "%R %c %x %X %Z|%-d %-m %h') }}",
     "Fri Friday Jan January 02  2 002 01 26 2026 00 12 AM 00 00 5 5 00 00 01 2026 % 01/02/26 "
     "2026-01-02 00:00:00 00:00 Fri Jan  2 00:00:00 2026 01/02/26 00:00:00 |2 1 Jan"},
    {"{% set c=cycler(1,2,3) %}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.reset() }}{{ "
     "c.next() }}{% set j=joiner('|') %}{{ j() }}a{{ j() }}b{{ j() }}{% set j2=joiner() %}{{ j2() "
     "}}{{ j2() }}",
     "123None1a|b|, "},
    {"{{ dict(a=1,b=2) }}{{ dict([('x',1)],y=2) }}{{ dict({'q':1}) }}{{ dict() }}{{ range(5)|list "
     "}}{{ range(2,5)|list }}{{ range(5,2,-1)|list }}{{ range(0)|list }}",
     "{'a': 1, 'b': 2}{'x': 1, 'y': 2}{'q': 1}{}[0, 1, 2, 3, 4][2, 3, 4][5, 4, 3][]"},
    {"{% for x in [1,2,3] %}{% for y in 'ab' %}{{ loop.index }}{{ y }}{% if loop.last %}{% break "
     "%}{% endif %}{% endfor %}{{ loop.index }};{% endfor %}",
     "1a2b1;1a2b2;1a2b3;"},
    {"{{ f2(*[1,2],**{'k':3}) if false }}{% macro f2(a,b,k) %}{{ a }}{{ b }}{{ k }}{% endmacro "
     "%}{{ f2(*[1,2],**{'k':3}) }}{{ f2(1,*[2],k=3) }}",
     "123123"},
    {"{% set a = {'x': {'y': [1,2,{'z':'deep'}]}} %}{{ a.x.y[2].z }}{{ a['x']['y'][-1]['z'] }}{{ "
     "a.x.y.2.z }}",
     "deepdeepdeep"},
    {"{{ [1,2,3].count(1) }} {{ [1,2,3].index(2) }} {{ (1,2).index(2) }} {{ d.get('zz') }} {{ "
     "d.get('zz','q') }} {{ d.copy() == d }} {{ [1].copy() }} {{ (5).bit_length() }} {{ "
     "2.0.is_integer() }} {{ d.keys()|list }}",
     "1 1 1 None q True [1] 3 True ['b', 'a', 'c']"},
    {"{{ (l|map('string')) is string }}{% set g=l|map('string') %}{{ g|list }}{{ g|list }}",
     "False['3', '1', '2'][]"},
    {"{{ loop is defined }}{{ true == 1 }}{{ 'a'.upper().lower() }}{{ (1 + 2)|string ~ 'x' }}{{ "
     "-5|abs }}{{ 2 + 3|string|length }}{{ not true or true }}{{ 1 if false else 2 if false else 3 "
     "}}",
     "FalseTruea3x53True3"},
};

/* What Python refuses; the message where it is the template's own. */
static const struct {
    const char *source, *message;
} template_errors[] = {
    {"{{ 1 + 'a' }}", NULL},
    {"{{ 'a' + 1 }}", NULL},
    {"{{ none + 1 }}", NULL},
    {"{{ missing.x }}", NULL},
    {"{{ missing['x'] }}", NULL},
    {"{{ missing() }}", NULL},
    {"{{ missing + 1 }}", NULL},
    {"{{ -missing }}", NULL},
    {"{{ 1/0 }}", NULL},
    {"{{ 1//0 }}", NULL},
    {"{{ 1%0 }}", NULL},
    {"{{ 1.0/0 }}", NULL},
    {"{{ 0**-1 }}", NULL},
    {"{{ 'a'.foo() }}", NULL},
    {"{{ 5() }}", NULL},
    {"{{ l.append(1) }}", NULL},
    {"{{ d.update({}) }}", NULL},
    {"{{ d.pop('a') }}", NULL},
    {"{{ l.sort() }}", NULL},
    {"{{ d.clear() }}", NULL},
    {"{{ l|first|nope }}", NULL},
    {"{{ x is nope }}", NULL},
    {"{% nope %}", NULL},
    {"{% if %}", NULL},
    {"{% if t %}", NULL},
    {"{% for %}{% endfor %}", NULL},
    {"{% for i in l %}", NULL},
    {"{% endfor %}", NULL},
    {"{{ }}", NULL},
    {"{{ 1 2 }}", NULL},
    {"{{ (1 }}", NULL},
    {"{{ [1 }}", NULL},
    {"{{ {1} }}", NULL},
    {"{{ 'a }}", NULL},
    {"{# a", NULL},
    {"{{ a b }}", NULL},
    {"{% set 1=2 %}", NULL},
    {"{% set x.y=1 %}", NULL},
    {"{% set x %}", NULL},
    {"{% macro f( %}{% endmacro %}", NULL},
    {"{% macro f(a=1,b) %}{% endmacro %}", NULL},
    {"{% break %}", NULL},
    {"{% for i in 5 %}{% endfor %}", NULL},
    {"{% for a,b in [1] %}{% endfor %}", NULL},
    {"{% set a,b=[1,2,3] %}", NULL},
    {"{{ {[]:1} }}", NULL},
    {"{{ [] in {} }}", NULL},
    {"{{ 1 in 'a' }}", NULL},
    {"{{ 1 in 5 }}", NULL},
    {"{{ 1 < 'a' }}", NULL},
    {"{{ [] < {} }}", NULL},
    {"{{ none < none }}", NULL},
    {"{{ '%d' % 'a' }}", NULL},
    {"{{ '%s %s' % 'a' }}", NULL},
    {"{{ '%s' % ('a','b') }}", NULL},
    {"{{ '{} {}'.format(1) }}", NULL},
    {"{{ '{x}'.format() }}", NULL},
    {"{{ '{'.format() }}", NULL},
    {"{{ '}'.format() }}", NULL},
    {"{{ '{:d}'.format('a') }}", NULL},
    {"{{ '{:z}'.format(1) }}", NULL},
    {"{{ '{!x}'.format(1) }}", NULL},
    {"{{ '{0}{}'.format(1) }}", NULL},
    {"{{ 'abc'.index('z') }}", NULL},
    {"{{ 'a'.split('') }}", NULL},
    {"{{ 'a'.join([1]) }}", NULL},
    {"{{ l|join(attribute='x.y') }}", NULL},
    {"{{ 5|length }}", NULL},
    {"{{ 5|list }}", NULL},
    {"{{ 5|first }}", NULL},
    {"{{ [1,'a']|sort }}", NULL},
    {"{{ [1,'a']|max }}", NULL},
    {"{{ missing|tojson }}", NULL},
    {"{{ (l|map('abs'))|tojson }}", NULL},
    {"{{ range|tojson }}", NULL},
    {"{{ {(1,2):3}|tojson }}", NULL},
    {"{{ l|map('nope')|list }}", NULL},
    {"{{ l|select('nope')|list }}", NULL},
    {"{{ d|dictsort(by='x') }}", NULL},
    {"{{ 5|dictsort }}", NULL},
    {"{{ 'x'|truncate(1,end='long') }}", NULL},
    {"{{ raise_exception('a\nb ' ~ 5) }}", "a\nb 5"},
    {"{{ raise_exception() }}", NULL},
    {"{{ range() }}", NULL},
    {"{{ range(1,2,0) }}", NULL},
    {"{{ range(10**6) }}", NULL},
    {"{{ cycler() }}", NULL},
    {"{% macro f(a) %}{% endmacro %}{{ f(1,2) }}", NULL},
    {"{% macro f(a) %}{% endmacro %}{{ f(b=2) }}", NULL},
    {"{% macro f(a) %}{% endmacro %}{{ f(1,a=2) }}", NULL},
    {"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", NULL},
    {"{% macro f() %}{{ caller() }}{% endmacro %}{{ f() }}", NULL},
    {"{% call f() %}{% endcall %}", NULL},
    {"{% call 5 %}{% endcall %}", NULL},
    {"{% include 'x' %}", NULL},
    {"{% import 'x' as y %}", NULL},
    {"{% extends 'x' %}", NULL},
    {"{% from 'x' import y %}", NULL},
    {"{{ ''.__class__.__mro__ }}", NULL},
    {"{{ s.__class__() }}", NULL},
    {"{{ s._x.y }}", NULL},
    {"{{ ().__class__.__base__ }}", NULL},
    {"{{ '{0.__class__.__mro__}'.format(1) }}", NULL},
    {"{{ x is defined is true }}", NULL},
    {"{{ f(a=1,2) }}", NULL},
    {"{{ a..b }}", NULL},
    {"{{ a. }}", NULL},
    {"{{ a[] }}", NULL},
    {"{{ a[1 }}", NULL},
    {"{{ not }}", NULL},
    {"{{ 1 if }}", NULL},
    {"{% if t %}{% else %}{% else %}{% endif %}", NULL},
    {"{% if t %}{% endfor %}", NULL},
    {"{% block a %}", NULL},
    {"{% with a %}{% endwith %}", NULL},
    {"{% filter nope %}{% endfilter %}", NULL},
    {"{% do 1 %}", NULL},
    {"{% set ns.a = 1 %}", NULL},
    {"{% set n.a = 1 %}", NULL},
    {"{{ 2**100000 if false else 1/0 }}", NULL},
    {"{{ 'a'.center('b') }}", NULL},
    {"{{ 'a'.center(5,'ab') }}", NULL},
    {"{{ 'a'.replace('a') }}", NULL},
    {"{{ 'a'.upper(1) }}", NULL},
    {"{{ 'a'.zfill() }}", NULL},
    {"{{ 'a'|indent(foo=1) }}", NULL},
    {"{{ 1|round(1,'x') }}", NULL},
    {"{{ 'abc'[::0] }}", NULL},
    {"{{ n|indent }}", NULL},
    {"{{ [1][1.5].x }}", NULL},
    {"{{ loop.index }}", NULL},
    {"{{ missing|abs }}", NULL},
    {"{{ missing|int }}", NULL},
    {"{{ 'a'|abs }}", NULL},
    {"{{ [1,2]|sum('x') }}", NULL},
    {"{{ ['a']|sum }}", NULL},
    {"{{ '\303\251'.encode().x.y }}", NULL},
};

#endif
