#!/usr/bin/env python3
"""Writes cases.jsonl: what Jinja2 makes of each template here.

    pip install jinja2==3.1.6
    tests/jinja/reference.py > tests/jinja/cases.jsonl

The environment is the one `transformers` renders chat templates in (immutable sandbox, loop
controls, json.dumps as tojson), with `do` besides; "plain" cases have trim_blocks and lstrip_blocks
off. A case holds the text, or the kind of error that Jinja2 raises. Python 3.11, Unicode 14.
"""
import datetime
import json
import sys

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = datetime.datetime(2026, 12, 1, 9, 30)


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_call"), [], [], body).set_lineno(lineno)

    def _call(self, caller):
        return caller()


def environment(plain):
    env = ImmutableSandboxedEnvironment(
        trim_blocks=not plain, lstrip_blocks=not plain,
        extensions=[Generation, jinja2.ext.loopcontrols, jinja2.ext.do])

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                          sort_keys=sort_keys)

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda f: NOW.strftime(f)
    return env


ENVIRONMENTS = {False: environment(False), True: environment(True)}


def render(source, context, plain):
    try:
        text = ENVIRONMENTS[plain].from_string(source).render(**context)
        text.encode()
        return {"text": text}
    except Exception as e:  # whatever Jinja2 or Python raises is an error of ours too
        return {"error": type(e).__name__}


CONTEXT = {"s":"héllo wörld","n":42,"neg":-7,"f":1.5,"l":[3,1,2],"d":{"b":1,"a":{"x":[1,2]}},"t":True,"no":None,"e":[],"es":"","msgs":[{"role":"user","content":"hi"},{"role":"assistant","content":"yo","tool_calls":[{"name":"f"}]},{"role":"user","content":None}],"html":"<a href='x'>\"&</a>","big":123456789012345678901234567890,"items":[{"n":"b","v":2},{"n":"A","v":1},{"n":"c","v":2}]}

# One expression each.
EXPRESSIONS = r"""
1/2
7//2
-7//2
7%-3
-7%3
2**10
2**-1
2**0.5
7.5//2
-7.5%2
1e20
1e16
1e15
1e-7
0.1+0.2
1.0
100000000000000000000
big+1
big*big
big//7
big%1000
-big
big/3
big==big+0
big>1e29
2**100
(-2)**3
1==1.0
True==1
"1"==1
1<2<3
1<2>3
1<3<2
not 1 in l
1 not in l
3 in l
"a" in d
"wör" in s
"" in s
none is none
x
x is defined
x.y is defined
d.a
d.a.x[0]
d['a']['x'][-1]
d.zz
l[10]
l[-1]
l["x"]
s[0]
s[1]
s[-1]
s[1:3]
s[::-1]
s[-3:]
s[:-3]
s[::2]
s[5:1:-1]
l[::-1]
l[1:]
(1,2,3)[1:]
l[:]
s[100:]
s[-100:2]
range(5)|list
range(5,0,-2)|list
range(5)
range(2,5)
range(0,10,3)
range(10)[3]
range(10)[-1]
d
d.items()
d.keys()
d.values()
d.items()|list
l+[4]
(1,)+(2,)
(1,)
()
[]
{}
{'a':1,2:'b',none:true,1.5:[]}
'it\'s'
"it's"
['it\'s','a"b','it\'s "x"',"tab\there\n"]
['\u00e9','\u0001','\x7f','\U0001F600','\u200b','\xa0']
"a" "b" 'c'
"a"~1~none~true~1.5~[1,'x']
1~2
s~n
"%s-%d"%("a",5)
"%5.2f|%-5s|%05d|%x|%X|%o|%e|%g|%r|%%"%(3.14159,"ab",42,255,255,8,12345.678,0.0001,"q")
"%(a)s %(b)d"%{"a":1,"b":2}
"%s"%[1,2]
"%s"%none
"%d"%3.9
"%c"%65
"%c"%"x"
"%+d % d %#x %#o"%(1,2,255,8)
"%.3s|%10.2s|"%("abcdef","xyz")
"%*d"%(5,42)
"%-*d|"%(5,42)
"{} {}".format(1,"a")
"{0} {1} {0}".format(1,2)
"{a} {b!r}".format(a=1,b="x")
"{:>10}|{:<10}|{:^10}|{:*^10}".format("a","b","c","d")
"{:05d} {:,} {:_} {:x} {:#x} {:b} {:o} {:e} {:.2f} {:%} {:+d}".format(42,1234567,1234567,255,255,5,8,12345.678,3.14159,0.25,3)
"{{}} {}".format(1)
"{0[a]} {0[b]}".format({"a":1,"b":2})
"{:{}}".format("x",5)
"{:.3}".format("abcdef")
"{:g} {:g} {:G}".format(1e10,0.1,1e-10)
"{:n}".format(5)
"{!s:>5}".format(1)
"{}".format(none)
"{:10}|".format(5)
"{:10}|".format("x")
"{:=+8d}".format(42)
"{:08.3f}".format(3.14159)
"{:,.2f}".format(1234567.891)
-7|abs
"-5"|int
"5.7"|int
"abc"|int
"abc"|int(7)
"0x1F"|int(base=16)
"101"|int(0,2)
5.9|int
-5.9|int
true|int
none|int
" 12 "|int
"1_000"|int
"3.5"|float
"x"|float
"1e3"|float
"inf"|float
"nan"|float
42.55|round
42.55|round(1)
42.55|round(1,'floor')
42.55|round(1,'ceil')
2.5|round
3.5|round
-2.5|round
1234.5678|round(2)
1234|round(-2)
5|round
0.5|round|int
[1,2,3]|sum
[1,2.5]|sum
items|sum(attribute='v')
[[1],[2]]|sum(start=[])
l|sort
l|sort(reverse=true)
["b","A","c"]|sort
["b","A","c"]|sort(case_sensitive=true)
items|sort(attribute='n')|map(attribute='n')|list
items|sort(attribute='v,n')|map(attribute='n')|join(',')
d|dictsort
{'b':2,'A':1,'c':0}|dictsort
{'b':2,'A':1,'c':0}|dictsort(true)
{'b':2,'A':1,'c':0}|dictsort(by='value')
{'b':2,'A':1,'c':0}|dictsort(reverse=true)
l|min
l|max
["b","A"]|min
[]|min
items|max(attribute='v')
l|first
l|last
[]|first
[]|last
s|first
s|last
l|reverse|list
s|reverse
l|length
s|length
d|length
5|length
[1,1,2]|unique|list
["a","A","b"]|unique|list
["a","A","b"]|unique(true)|list
items|groupby('v')
items|groupby('v')|map(attribute='grouper')|list
items|groupby('v')|map('first')|list
items|map(attribute='n')|join('-')
items|map(attribute='zz',default='D')|list
["a","b"]|map('upper')|list
[1,2]|map('string')|list
["a,b","c"]|map('replace',',','_')|list
range(10)|select('odd')|list
range(10)|reject('odd')|list
range(10)|select('divisibleby',3)|list
[0,1,'',none]|select|list
items|selectattr('v','equalto',2)|map(attribute='n')|list
items|selectattr('v','==',2)|list|length
items|rejectattr('v','eq',2)|list
msgs|selectattr('tool_calls')|list|length
msgs|selectattr('tool_calls','defined')|list|length
msgs|rejectattr('content','none')|list|length
msgs|selectattr('role','in',['user'])|list|length
x|selectattr('a')|list
x|map('upper')|list
x|list
x|length
x|join
x|first
x|upper
x|trim
x|string
x|default('D')
x|d
no|default('D')
no|default('D',true)
""|default('D')
""|default('D',true)
""|default('D',boolean=true)
s|upper
s|lower
s|title
s|capitalize
"hELLO wORLD"|title
"foo-bar (baz) [q] {z} <w>"|title
"ß straße ΑΣ ΑΣ. İ ŉ ǆ"|upper
"ΑΣ ΑΣΑ Σ İ"|lower
"ǆ ß"|capitalize
"  a b  "|trim
"xxaxx"|trim('x')
"a\nb\n\nc"|indent
"a\nb\n\nc"|indent(2,true)
"a\nb\n\nc"|indent(2,false,true)
"a\nb"|indent('>>')
"a\nb\n"|indent
""|indent
"aaa"|replace('a','b')
"aaa"|replace('a','b',2)
"abc"|replace('','-')
[1,2]|join(',')
[1,[2],none]|join('|')
d|join(',')
"abc"|join('-')
5|string|length
[1,'a']|string
html|escape
html|e
html|safe
html|safe|e
html|forceescape
html|safe|forceescape
('<a>'|safe)+'<b>'
'<b>'+('<a>'|safe)
('<a>'|safe)~'<b>'
('%s'|safe)%'<b>'
('<a>'|safe).replace('a','<')
('a<'|safe)|upper
('<a>'|safe)|replace('a','<')
['<a>'|safe]
('<a>'|safe)*2
('<a,b>'|safe).split(',')
('x'|safe).join(['<','y'])
('{}'|safe).format('<')
'<a>'|safe|length
('<'|safe)=='<'
('<'|safe) is escaped
'<' is escaped
'<' is string
html|striptags
"a &amp
 b <b>c</b>  d"|striptags
"a b/c&d"|urlencode
{'a b':'c&d','e':1}|urlencode
"foo bar baz qux"|truncate(9)
"foo bar baz qux"|truncate(9,true)
"foo bar baz qux"|truncate(11)
"foo bar baz qux"|truncate(11,false,'...',0)
"hello world foo_bar 12"|wordcount
"x"|center(5)
"xy"|center(5)
"xyz"|center(6)
[1,2,3,4,5]|batch(2)|list
[1,2,3,4,5]|batch(2,'x')|list
[1,2,3,4,5]|slice(2)|list
[1,2,3,4,5]|slice(3,'x')|list
1000|filesizeformat
1|filesizeformat
0|filesizeformat
1000000|filesizeformat
1024|filesizeformat(true)
123456789|filesizeformat
{'a':'<','b':none,'c':1}|xmlattr
d|attr('items') is callable
d|attr('b')
"%s %s"|format(1,2)
"%(a)s"|format(a=1)
d|tojson
d|tojson(indent=2)
[]|tojson(indent=2)
{}|tojson(indent=2)
[[],{}]|tojson(indent=2)
s|tojson
s|tojson(ensure_ascii=true)
"\u0001\n\t\"\\/\x7f😀"|tojson
"\x7f😀é"|tojson(ensure_ascii=true)
[1,1.0,1e20,true,none,big]|tojson
(1,2)|tojson
{1:2,none:3,true:4,1.5:5}|tojson
d|tojson(separators=(',',':'))
d|tojson(sort_keys=true)
{'b':1,'a':2}|tojson(sort_keys=true,indent=1)
d|tojson(indent='--')
x|tojson
l|map('string')|tojson
range(3)|tojson
namespace(a=1)|tojson
("inf"|float)|tojson
("nan"|float)|tojson
l|tojson(indent=0)
l|tojson(indent=-1)
l|tojson(indent=true)
"abc".upper()
"ABC".lower()
"a,b,c".split(',')
"a,b,c".split(',',1)
"a b  c".split()
" a b  c ".split(none,1)
"a,b,c".rsplit(',',1)
" a b  c ".rsplit(none,1)
"a b c".split(' ',maxsplit=1)
"abc".split('')
"a\nb\r\nc\n".splitlines()
"a\nb\n".splitlines(true)
"a-b-c".partition('-')
"a-b-c".rpartition('-')
"abc".partition('x')
"abc".rpartition('x')
"  x ".strip()
"xxabcxx".strip('x')
"xxabcxx".lstrip('x')
"xxabcxx".rstrip('xc')
"abc".startswith('a')
"abc".startswith(('x','a'))
"abc".endswith('c')
"abc".startswith('b',1)
"abc".find('c')
"abc".find('z')
"héé".find('é',2)
"abcabc".rfind('b')
"abc".index('z')
"abcabc".count('bc')
"abc".count('')
"a".join(['x','y'])
",".join([1])
"abc".replace('b','x')
"aaa".replace('a','b',1)
"hello world".title()
"they're bill's".title()
"hello".capitalize()
"Hello".swapcase()
"x".center(5,'*')
"x".center(4)
"xy".center(5)
"x".ljust(3)~'|'
"x".rjust(3)
"42".zfill(5)
"-42".zfill(5)
"a\tb".expandtabs()
"a\tb".expandtabs(4)
"abc".isalpha()
"abc1".isalnum()
"12".isdigit()
"²".isdigit()
"½".isnumeric()
" ".isspace()
"Abc".istitle()
"abc".islower()
"ABC".isupper()
"abc".isidentifier()
"".isprintable()
"prefix-x".removeprefix('prefix-')
"x.txt".removesuffix('.txt')
"ß".casefold()
d.get('b')
d.get('zz')
d.get('zz',5)
d.get('zz',default=5)
l.index(1)
l.count(3)
l.index(99)
l.append(1)
l.append is defined
d.update({})
d.pop('a')
l.copy()
d.copy()
n.foo
n.foo.bar
no.x
no['x']
no[0]
f.is_integer()
s.foo
d['items']
d['zz'] is defined
(1,2).count(1)
loop
1 if true else 2
1 if false
(1 if false) is defined
1 if true else 2 if false else 3
'a' if x else 'b'
x or 'y'
'' or none
0 and 1
1 and 2
not x
not not 1
1 is odd
2 is even
9 is divisibleby 3
9 is divisibleby(3)
1 is not odd
s is string
n is number
n is integer
f is float
t is boolean
t is true
t is false
no is none
d is mapping
l is sequence
s is sequence
d is sequence
d.items() is sequence
l is iterable
n is iterable
s is iterable
x is iterable
x is sequence
x is mapping
x is callable
range is callable
l is sameas l
1 is sameas 1
1 is eq 1
1 is equalto(1)
2 is gt 1
2 is lessthan 1
1 in [1,2] and 2 in [1,2]
1 is in [1,2]
'a' is lower
'A' is upper
'a1' is lower
'trim' is filter
'odd' is test
'zz' is filter
x + 1
'a'+x
x+'a'
'a'+1
'a'+none
'a'+l
1+'a'
l+'a'
-s
-x
n()
s()
x()
x.y.z
d.zz.y
l.foo()
'a'*3
3*'ab'
'a'*-1
[1]*2
'a'-1
1<'a'
none<1
l<[4]
[1,2]<[1,3]
(1,2)==(1,2)
[1]==(1,)
{'a':1}=={'a':1.0}
x==x
x==none
x==y
x<1
1 in x
1 in none
1 in 5
1 in 'a'
x in l
'%s'%x
'a%'%()
'%d'%'a'
'%s'%(1,2)
'%s %s'%(1,)
'%z'%1
1//0
1%0
1/0
1.0//0
0**-1
l[x]
l['a':]
l[1.5]
s[x:]
d[[1]]
{[1]:2}
range(0,5,0)
range('a')
range(100001)
dict(a=1,b=2)
dict([('a',1)])
dict({'x':1},y=2)
namespace(a=1).a
namespace(a=1)
strftime_now('%Y-%m-%d %H:%M:%S %d %b %Y %B %j %A %a %p %I %y %U %W %V %G %u %w %e %-d %-m %%')
strftime_now('%c|%x|%X|%D|%F|%T|%R|%h|%n|%t|%C|%s' if false else '%c|%x|%X|%D|%F|%T|%R|%h|%C')
raise_exception('boom')
cycler('a','b').next()
joiner('-')()
1_000
0x1F
0b101
0o17
1.5e3
1e5
1.2e-3
00
'\q'
'\x41\u0042\101'
"a\b"
['é']
"日本語"|length
"日本語"[1]
"日本語"[::-1]
"日本"|list
"日本語"|upper
"日本語".find('語')
"日本語".center(7,'*')
"e\u0301"|length
s|zzz
s is zzz
1|zzz if false else 2
(l|map('upper'))
l|map('upper')|list
d|items
d|items|list
x|items|list
5|items|list
l|items|list
msgs[0]|items|list
msgs|map(attribute='content')|list
msgs|map(attribute='tool_calls')|map('first')|list
d.items()|map('first')|list
msgs|last
msgs[-1].content is none
msgs[0]['role']~':'~msgs[0].content
[1,2,3][1:][0]
{'a':{'b':[10,20]}}.a.b[1]
"a" is in "abc"
[x]|length
[x]
{'a':x}
x|tojson(indent=2)
no|tojson
no|string
no|upper
no|length
no~''
true|string
true~false
1.0|string
[1.0,none,true]|join(',')
1e400
-0.0
0.0*-1
1e22
123456789.123456789
1/3
2/3*3
1e-5
0.0001
1e16+1
-1//2
divmod
5 if
"""

# One template each, rendered with and without trim_blocks and lstrip_blocks.
TEMPLATES = r"""
{% for i in l %}{{ i }}{% if not loop.last %},{% endif %}{% endfor %}
{% for i in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.depth }}{{ loop.cycle('a','b') }}{{ loop.changed(i) }};{% endfor %}
{% for i in l if i > 1 %}{{ i }}:{{ loop.index }}/{{ loop.length }}{{ loop.last }} {% endfor %}
{% for i in e %}x{% else %}empty{% endfor %}
{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}
{% for k in d %}{{ k }}{% endfor %}
{% for c in "añb" %}[{{ c }}]{% endfor %}
{% for i in x %}{{ i }}{% else %}none{% endfor %}
{% for i in 5 %}{% endfor %}
{% for i in none %}{% endfor %}
{% for a, b in [(1,2),(3,4)] %}{{ a+b }}{% endfor %}
{% for a, b in [(1,2,3)] %}{% endfor %}
{% for a in [1,2,3,4] %}{% if a == 2 %}{% continue %}{% endif %}{% if a == 4 %}{% break %}{% endif %}{{ a }}{% endfor %}
{% set x = 1 %}{% for i in l %}{% set x = x + i %}{{ x }},{% endfor %}{{ x }}
{% set ns = namespace(x=1) %}{% for i in l %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}
{% set x %}a{{ n }}b{% endset %}[{{ x }}]
{% set x | upper %}abc{% endset %}{{ x }}
{% set a, b = 1, 2 %}{{ a }}{{ b }}
{% set a = 1, 2 %}{{ a }}
{% macro m(a, b=2, c=a) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }}|{{ m(1, 3) }}|{{ m(a=5, c=1) }}|{{ m() }}
{% macro m(a) %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3, x=4) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=2) }}
{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}body{{ n }}{% endcall %}
{% macro m() %}[{{ caller(1, 2) }}]{% endmacro %}{% call(a, b) m() %}{{ a }}-{{ b }}{% endcall %}
{% macro m() %}{{ caller }}{% endmacro %}{{ m() }}
{% macro f(n) %}{% if n > 0 %}{{ n }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(5) }}
{% macro m() %}{{ y }}{% endmacro %}{% set y = 5 %}{{ m() }}
{{ m() if m is defined }}{% macro m() %}x{% endmacro %}{{ m() }}
{% macro m() %}{% set q = 1 %}{{ q }}{% endmacro %}{{ m() }}{{ q }}
{% macro m() %}x{% endmacro %}{{ m }}|{{ m.name }}
{% macro m(x) %}{{ x }}{% endmacro %}{{ m(*[1]) }}{{ m(**{'x': 2}) }}
{% filter upper %}abc{{ s }}{% endfilter %}
{% filter replace('a','b')|upper %}aaa{% endfilter %}
{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a }}
{% with %}{% set z = 1 %}{{ z }}{% endwith %}{{ z }}
{% if x %}a{% elif n == 42 %}b{% else %}c{% endif %}
{% if false %}{% set q = 1 %}{% endif %}{{ q }}|{{ q is defined }}
{% if true %}{% set n = 1 %}{% endif %}{{ n }}
{% if false %}{% set n = 1 %}{% endif %}{{ n }}
{% for i in [1] %}{% if false %}{% set n = 1 %}{% endif %}{{ n }}{% endfor %}
{% for i in [1] %}{% set n = 7 %}{% endfor %}{{ n }}
{% for i in [1,2] %}{% for j in [1,2] %}{{ loop.index }}{{ i }}{{ j }} {% endfor %}{{ loop.index }}{% endfor %}
{% for n in l recursive %}{{ n }}{% if n > 2 %}({{ loop([1,2]) }}){% endif %}{% endfor %}
{% for i in l %}{{ loop }}{% endfor %}
{% do l.copy() %}x
{% raw %}{{ x }}{% endraw %}y
{% raw -%}  {{ x }} {%- endraw %}y
{# comment #}x{#- c -#}  y
a {#- c #} b
  {% if true %}
    x
  {% endif %}
y
  {%- if true -%}
    x
  {%- endif -%}
 y
a  {{- n -}}  b
a {%+ if true %} b {% endif +%}
c
{% if true +%}
x{% endif %}
{{ "a" }}
{{ "b" }}
{% generation %}gen{{ n }}{% endgeneration %}
{% generation %}{% set gg = 1 %}{% endgeneration %}{{ gg }}
{% for m in msgs %}{% generation %}{{ m.role }}{{ loop.index }}{% endgeneration %}{% endfor %}
{% print n %}
{{ {'a': {'b': 1}}['a']['b'] }}{{ {} }}
{{ '}}' }}{{ "{%" }}
{{ n }}
{% set it = l|map('string') %}{{ it|list }}{{ it|list }}
{% set it = items|selectattr('v','eq',2) %}{% for i in it %}{{ i.n }}{% endfor %}{% for i in it %}again{% endfor %}
{% set ns = namespace() %}{% set ns.a = [] %}{{ ns.a }}{{ ns.b }}{{ ns.b is defined }}
{% set q.a = 1 %}
{% set d.a = 1 %}
{% set c = cycler('a','b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}
{% set j = joiner() %}{{ j() }}a{{ j() }}b{{ j() }}
{% for k, g in items|groupby('v') %}{{ k }}:{% for i in g %}{{ i.n }}{% endfor %};{% endfor %}
{% for g in items|groupby('v') %}{{ g.grouper }}{{ g.list|length }}{% endfor %}
{% for i in [1,2,3] if i is odd %}{{ loop.nextitem }}{{ i }}{{ loop.previtem }}{% else %}none{% endfor %}
{% for i in range(3) %}{% if loop.first %}{% set foo = 1 %}{% endif %}{{ foo }}{% endfor %}
{% set foo = 0 %}{% for i in range(3) %}{% if loop.first %}{% set foo = 1 %}{% endif %}{{ foo }}{% endfor %}{{ foo }}
{% set x = [] %}{% set x = x + [1] %}{{ x }}
{% unknown %}
{% if %}{% endif %}
{% for %}{% endfor %}
{% endif %}
{% if true %}
{{ 
{{ a b }}
{{ (1 }}
{{ [1) }}
{{ 'abc }}
{{ a. }}
{{ 1 + }}
{% set %}
{% set 1 = 2 %}
{% set true = 2 %}
{% break %}
{{ a is b is c }}
{{ f(a=1, 2) }}
{# unclosed
{% raw %} unclosed
{% for x in l %}{% else %}{% else %}{% endfor %}
{% macro m(a=1, b) %}{% endmacro %}
{% call 5 %}{% endcall %}
{{ loop.index }}
{% for i in l %}{% set loop = 5 %}{{ loop }}{% endfor %}
{% set a %}x{% endset %}{{ a + '<' }}{{ a is string }}
{{ 'a' 'b' }}{{ 1.a }}
{{ d.a.x.0 }}
{{ l.0 }}{{ l.1 }}
{% for i in [3,1,2]|sort %}{{ i }}{% endfor %}
{% for i in [1,2,3]|reverse %}{{ i }}{% endfor %}
{% set ns = namespace(found=false) %}{% for m in msgs if not ns.found %}{{ m.role }}{% set ns.found = true %}{% endfor %}
{% set ns = namespace(found=false) %}{% for m in msgs if not ns.found %}{{ loop.last }}{{ m.role }}{% set ns.found = true %}{% endfor %}
{% for i in [1,2,3] %}{% set y %}{% if i == 2 %}{% break %}{% endif %}q{% endset %}{{ y }}{% endfor %}
{% for i in [1,2,3] %}pre{% if i == 2 %}{% continue %}{% endif %}post{% endfor %}
{% if n is defined and n is not none and n %}yes{% endif %}
{{ "a\nb" }}
{{ "tab\t|" }}
a{{ "" }}
{% set x = 5 if t else 6 %}{{ x }}
{{ [1,2,3,] }}{{ (1,2,) }}{{ {'a':1,} }}
{{ -1 }}{{ +1 }}{{ - -1 }}{{ not true }}{{ -n|abs }}{{ 2 ** 3 ** 2 }}{{ -2 ** 2 }}
{{ 1 + 2 * 3 - 4 / 2 }}{{ 'a' ~ 1 + 2 }}{{ 1 ~ 2 * 3 }}{{ 10 - 2 - 3 }}
{{ n if n > 5 else 'small' if n > 2 else 'tiny' }}
{{ x.y if x is defined else 'undef' }}
{% macro outer() %}{% macro inner() %}{{ n }}i{% endmacro %}{{ inner() }}{% endmacro %}{{ outer() }}
{% set v = 1 %}{% macro m() %}{{ v }}{% set v = 2 %}{{ v }}{% endmacro %}{{ m() }}{{ v }}
{% for i in l %}{% macro m() %}{{ i }}{% endmacro %}{{ m() }}{% endfor %}
{% macro m(x, y='d') %}{{ x }}{{ y }}{% endmacro %}{{ m('a', none) }}{{ m('a', y=undefinedvar) }}
{% call(x) m() %}{% endcall %}
{% macro m(caller) %}{{ caller() }}{% endmacro %}{% call m() %}z{% endcall %}
{{ (l|map('string')|list)[0] }}{{ msgs|map(attribute='role')|unique|join(',') }}
{% for m in msgs %}{{ loop.index0 ~ ':' ~ m['role'] }}{{ "," if not loop.last else "." }}{% endfor %}
{{- '<|im_start|>' + msgs[0].role + '\n' + msgs[0].content + '<|im_end|>\n' }}
{{ '<|x|>' + msgs[2].content }}
{% set m = msgs[0] %}{% if m.content is string %}{{ m.content }}{% endif %}{% if m['tool_calls'] is defined %}no{% endif %}
{%- set ns = namespace(a=1, b='x') -%}{{ ns.a ~ ns.b }}{% set ns.c = ns.a + 1 %}{{ ns.c }}
"""

# Templates of several lines, likewise.
LINES = [
    "a\n  {% if true %}\n  b\n  {% endif %}\nc\n",
    "{% for i in l %}\n{{ i }}\n{% endfor %}\n",
    "x\r\ny\rz\n\n",
    "  {{ n }}\n  {# c #}\n  y\n",
    "a\n\t{%- if true %}\n b\n\t{% endif -%}\n\n  c",
    "{% set x %}\n a\n{% endset %}\n[{{ x }}]",
    "\n\n{{ n }}\n\n",
    "  {% raw %}\n  {{ x }}\n  {% endraw %}\n z",
    "a {# c\n #}\n b",
    "{% if true %}x{% endif %}\n\ny",
    "{{ n }}{% if true %}\n{% endif %}\n{{ n }}\n",
    "{#- x -#}\n a",
    "a\n{#+ x #}\n b",
    "  {%+ if true %}a{% endif %}",
    "{%- raw %} a {% endraw -%} \n b",
    "  {%- raw -%} a {%- endraw %}\n b",
    "{% macro m() %}\n  a\n{% endmacro %}\n{{ m() }}|",
    "x\n   {% if true %} y\n   {% endif %}z",
    "{{ 'a' }}   \n{% if true %}   \nq{% endif %}",
    "{% if true -%}   \n\n q{% endif %}",
    "\u00a0{%- if true -%}\u2003x\u00a0{%- endif %}y",
    "{{ [\n1,\n2\n] }}\n",
    "{%if true%}a{%endif%}{{n}}"]


def main():
    cases = [("{{ " + e + " }}", False) for e in EXPRESSIONS.split("\n") if e]
    for source in [t for t in TEMPLATES.split("\n") if t] + LINES:
        cases += [(source, False), (source, True)]
    print(json.dumps({"context": CONTEXT, "jinja2": jinja2.__version__}, ensure_ascii=False))
    for source, plain in cases:
        case = {"source": source, "plain": plain, **render(source, CONTEXT, plain)}
        if " at 0x" in case.get("text", ""):
            continue  # an address: no two renders agree
        print(json.dumps(case, ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main())
