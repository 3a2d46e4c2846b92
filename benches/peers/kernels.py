#!/usr/bin/env python3
"""The twelve kernels in JAX, numexpr, numba, NumPy and PyTorch (those installed), for `ndjit-bench report`.

    python benches/peers/kernels.py all > peers.jsonl     # every library, 1 and 2 threads: about 10 minutes
    python benches/peers/kernels.py compileall            # JAX: time to trace and to compile, fresh processes
    python benches/peers/kernels.py dispatchall           # latency of a call on 8 elements

Prints a line of JSON per measurement: backend, threads, kernel, dtype, n, mode (fresh | out | donate), min_s, med_s, reps."""
import sys, os, json, time, subprocess, statistics
PY = sys.executable
KERN = ["axpy","poly","bs","gelu","sincos","hypot3","mixed","sumsq","softmax","outer","elu","mandel"]
C = [0.1,-0.2,0.3,-0.4,0.5,-0.6,0.7,-0.8,0.9,-1.0,1.1]   # 11 coefs => degree 10

def timeit(f, budget=0.35, minreps=5):
    f(); f()
    t=time.perf_counter(); f(); t1=time.perf_counter()-t
    inner=max(1,int(2e-4/max(t1,1e-7)))
    ts=[]; t0=time.perf_counter()
    while (time.perf_counter()-t0<budget and len(ts)<400) or len(ts)<minreps:
        a=time.perf_counter()
        for _ in range(inner): f()
        ts.append((time.perf_counter()-a)/inner)
        if time.perf_counter()-t0>3.0: break
    return min(ts), statistics.median(ts), len(ts)*inner

def emit(**k): print(json.dumps(k), flush=True)
def rec(backend,threads,kernel,dtype,n,mode,f):
    try:
        mn,md,r=timeit(f)
        emit(backend=backend,threads=threads,kernel=kernel,dtype=dtype,n=n,mode=mode,min_s=mn,med_s=md,reps=r)
    except Exception as e:
        emit(backend=backend,threads=threads,kernel=kernel,dtype=dtype,n=n,mode=mode,error=repr(e)[:200])

def inputs(k,n,dt):
    import numpy as np
    r=np.random.default_rng(0)
    u=lambda lo,hi,m=n: r.uniform(lo,hi,m).astype(dt)
    if k in("axpy","sumsq"): return (u(-1,1),u(-1,1))
    if k in("poly",): return (u(-1,1),)
    if k in("gelu","sincos","elu"): return (u(-3,3),)
    if k=="bs": return (u(50,150),u(50,150),u(.1,2),u(.1,.6))
    if k=="hypot3": return (u(-1,1),u(-1,1),u(-1,1))
    if k=="mixed": return (r.integers(-100,100,n).astype("int32"),u(-1,1),r.integers(-100,100,n).astype("int8"))
    if k=="softmax": return (r.uniform(-3,3,(1000,1000)).astype(dt),)
    if k=="outer": return (r.uniform(-2,2,(3000,1)).astype(dt), r.uniform(-2,2,(1,3000)).astype(dt))
    if k=="mandel":
        return ((r.uniform(-.2,.2,n)+1j*r.uniform(-.2,.2,n)).astype("complex64"),)

def kernels(np):
    def poly(x):
        a=x*C[10]+C[9]
        for c in C[8::-1]: a=a*x+c
        return a
    def bs(S,K,T,v):
        sq=v*np.sqrt(T); d1=(np.log(S/K)+(0.03+0.5*v*v)*T)/sq; d2=d1-sq
        return S*(1/(1+np.exp(-1.702*d1)))-K*np.exp(-0.03*T)*(1/(1+np.exp(-1.702*d2)))
    def mandel(c):
        z=c
        for _ in range(20): z=z*z+c
        return z
    def softmax(a):
        e=np.exp(a-a.max(axis=1,keepdims=True)); return e/e.sum(axis=1,keepdims=True)
    return dict(axpy=lambda x,y: x+y*2, poly=poly, bs=bs,
      gelu=lambda x: 0.5*x*(1+np.tanh(0.79788456*(x+0.044715*x*x*x))),
      sincos=lambda x: np.sin(x)*np.sin(x)+np.cos(x)*np.cos(x),
      hypot3=lambda x,y,z: np.sqrt(x*x+y*y+z*z),
      mixed=lambda i,f,b: i*f+b, sumsq=lambda x,y: ((x-y)**2).sum(), softmax=softmax,
      outer=lambda a,b: np.exp(-(a-b)**2), elu=lambda x: np.where(x>0,x,np.expm1(x)), mandel=mandel)

def sizes(k):
    if k=="softmax": return [1000000]
    if k=="outer": return [9000000]
    if k=="mandel": return [1000000]
    return [1000,100000,10000000]
def cases():
    for k in KERN:
        for n in sizes(k):
            yield k,n,"float32"
    for k in ("axpy","poly","gelu","sumsq"):
        for n in (100000,10000000): yield k,n,"float64"

def w_numpy(th):
    import numpy as np
    ks=kernels(np); np.seterr(all="ignore")
    for k,n,dt in cases():
        a=inputs(k,n,dt); f=ks[k]
        if k=="mixed": f=lambda i,x,b: i.astype(np.float32)*x+b
        rec("numpy",th,k,dt,n,"fresh",lambda: f(*a))
        if k=="axpy":
            o=np.empty_like(a[0])
            def g(): np.multiply(a[1],2,out=o); np.add(a[0],o,out=o)
            rec("numpy",th,k,dt,n,"out",g)
        if k=="sincos" or k=="hypot3":
            o=np.empty_like(a[0]); p=np.empty_like(o)
            if k=="hypot3":
                def g():
                    np.multiply(a[0],a[0],out=o); np.multiply(a[1],a[1],out=p); np.add(o,p,out=o)
                    np.multiply(a[2],a[2],out=p); np.add(o,p,out=o); np.sqrt(o,out=o)
            else:
                def g():
                    np.sin(a[0],out=o); np.multiply(o,o,out=o); np.cos(a[0],out=p); np.multiply(p,p,out=p); np.add(o,p,out=o)
            rec("numpy",th,k,dt,n,"out",g)

def w_numexpr(th):
    import numpy as np, numexpr as ne
    ne.set_num_threads(th)
    def h():
        s="x*%r+%r"%(C[10],C[9])
        for c in C[8::-1]: s="(%s)*x+%r"%(s,c)
        return s
    z="c"
    for _ in range(20): z="(%s)"%z
    E=dict(axpy="x+y*2",poly=h(),
      bs="S*(1/(1+exp(-1.702*((log(S/K)+(0.03+0.5*v*v)*T)/(v*sqrt(T))))))-K*exp(-0.03*T)*(1/(1+exp(-1.702*((log(S/K)+(0.03+0.5*v*v)*T)/(v*sqrt(T))-v*sqrt(T)))))",
      gelu="0.5*x*(1+tanh(0.79788456*(x+0.044715*x*x*x)))",sincos="sin(x)*sin(x)+cos(x)*cos(x)",
      hypot3="sqrt(x*x+y*y+z*z)",mixed="i*x+b",sumsq="sum((x-y)**2)",outer="exp(-(a-b)**2)",elu="where(x>0,x,expm1(x))")
    N=dict(axpy="xy",poly="x",bs="SKTv",gelu="x",sincos="x",hypot3="xyz",mixed="ixb",sumsq="xy",outer="ab",elu="x")
    import re
    for k,n,dt in cases():
        a=inputs(k,n,dt)
        if k in("softmax","mandel"): # composed
            if k=="softmax":
                x=a[0]
                def g():
                    m=x.max(axis=1,keepdims=True); e=ne.evaluate("exp(x-m)",local_dict=dict(x=x,m=m)); s=e.sum(axis=1,keepdims=True)
                    return ne.evaluate("e/s",local_dict=dict(e=e,s=s),out=e)
            else:
                c=a[0]
                def g():
                    zz=c
                    for _ in range(20): zz=ne.evaluate("z*z+c",local_dict=dict(z=zz,c=c))
                    return zz
            rec("numexpr",th,k,dt,n,"fresh",g); continue
        ex=E[k]
        # float literals would upcast to f64 unless passed as f32 consts: bind them as float32 0-d variables
        d=dict(zip(N[k],a))
        if dt=="float32":
            lits=sorted(set(re.findall(r"(?<![\w.])\d+\.\d+(?:e-?\d+)?",ex)),key=len,reverse=True)
            for j,l in enumerate(lits):
                d["k%d"%j]=np.float32(l)
            ex=re.sub(r"(?<![\w.])\d+\.\d+(?:e-?\d+)?",lambda m:"k%d"%lits.index(m.group(0)),ex)
        r=ne.evaluate(ex,local_dict=d)
        rec("numexpr",th,k,dt,n,"fresh",lambda: ne.evaluate(ex,local_dict=d))
        if k!="sumsq" :
            o=np.empty_like(r)
            rec("numexpr",th,k,dt,n,"out",lambda: ne.evaluate(ex,local_dict=d,out=o))
        emit(backend="numexpr",note="dtype",kernel=k,result=str(r.dtype))

def w_jax(th):
    os.environ["XLA_FLAGS"]=("--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1" if th==1 else "")
    import jax, jax.numpy as jnp, numpy as np
    jax.config.update("jax_enable_x64",True)
    ks=kernels(jnp)
    if True:
        ks["sumsq"]=lambda x,y: ((x-y)**2).sum()
    for k,n,dt in cases():
        f=ks[k]
        if k=="mixed": f=lambda i,x,b: i.astype(jnp.float32)*x+b
        a=[jax.device_put(v) for v in inputs(k,n,dt)]
        j=jax.jit(f)
        r=j(*a)
        if dt=="float32" and str(r.dtype) not in("float32","complex64"): emit(backend="jax",note="dtype",kernel=k,result=str(r.dtype))
        rec("jax",th,k,dt,n,"fresh",lambda: j(*a).block_until_ready())
        if k in("axpy","poly","gelu","sincos","elu","hypot3"):
            jd=jax.jit(f,donate_argnums=0)
            st=[jax.device_put(np.asarray(a[0]).copy())]
            st[0]=jd(st[0],*a[1:])
            def g():
                st[0]=jd(st[0],*a[1:]).block_until_ready()
            rec("jax",th,k,dt,n,"donate",g)

def w_numba(th):
    tag="numba" if os.environ.get("NUMBA_DISABLE_INTEL_SVML") else "numba+svml"
    import numpy as np, numba as nb, math
    from numba import njit, prange
    nb.set_num_threads(th)
    import warnings; warnings.simplefilter("ignore")
    J=njit(fastmath=True,parallel=(th>1),error_model="numpy",boundscheck=False)
    f4=np.float32
    def mk(src):
        d=dict(np=np,math=math,prange=prange,f=None); exec(src,d); return J(d["k"])
    def loop(args,expr,pre=""):
        return "def k(%s,o):\n  for i in prange(o.size):\n%s    o[i]=%s\n"%(args,pre,expr)
    for k,n,dt in cases():
        T="np.float32" if dt=="float32" else "np.float64"
        c=lambda v:"%s(%r)"%(T,v)
        a=inputs(k,n,dt); flat=a; o=np.empty(n,dt); 
        if k=="axpy": s=loop("x,y","x[i]+y[i]*%s"%c(2.0))
        elif k=="poly":
            e="v*%s+%s"%(c(C[10]),c(C[9]))
            for q in C[8::-1]: e="(%s)*v+%s"%(e,c(q))
            s=loop("x",e,"    v=x[i]\n")
        elif k=="gelu": s=loop("x","%s*v*(%s+math.tanh(%s*(v+%s*v*v*v)))"%(c(.5),c(1.),c(.79788456),c(.044715)),"    v=x[i]\n")
        elif k=="sincos": s=loop("x","math.sin(v)*math.sin(v)+math.cos(v)*math.cos(v)","    v=x[i]\n")
        elif k=="hypot3": s=loop("x,y,z","math.sqrt(x[i]*x[i]+y[i]*y[i]+z[i]*z[i])")
        elif k=="mixed": s=loop("p,x,b","np.float32(p[i])*x[i]+np.float32(b[i])")
        elif k=="elu": s=loop("x","v if v>0 else %s(math.expm1(v))"%T,"    v=x[i]\n")
        elif k=="bs":
            pre="    sq=v[i]*math.sqrt(T[i]); d1=(math.log(S[i]/K[i])+(%s+%s*v[i]*v[i])*T[i])/sq; d2=d1-sq\n"%(c(.03),c(.5))
            e="S[i]*({1}/({1}+math.exp(-{m}*d1)))-K[i]*math.exp(-{q}*T[i])*({1}/({1}+math.exp(-{m}*d2)))".replace("{1}",c(1.)).replace("{m}",c(1.702)).replace("{q}",c(.03))
            s=loop("S,K,T,v",e,pre)
        elif k=="sumsq":
            s="def k(x,y):\n  s=%s(0)\n  for i in prange(x.size):\n    d=x[i]-y[i]\n    s+=d*d\n  return s\n"%T; o=None
        elif k=="softmax":
            s="""def k(x,o):
  for r in prange(x.shape[0]):
    m=x[r,0]
    for j in range(x.shape[1]): m=max(m,x[r,j])
    t=np.float32(0)
    for j in range(x.shape[1]):
      e=math.exp(x[r,j]-m); o[r,j]=e; t+=e
    q=np.float32(1)/t
    for j in range(x.shape[1]): o[r,j]*=q
"""; o=np.empty((1000,1000),dt)
        elif k=="outer":
            s="""def k(a,b,o):
  for r in prange(o.shape[0]):
    for j in range(o.shape[1]):
      d=a[r,0]-b[0,j]; o[r,j]=math.exp(-d*d)
"""; o=np.empty((3000,3000),dt)
        elif k=="mandel":
            s="""def k(c,o):
  for i in prange(o.size):
    cr=c[i].real; ci=c[i].imag; zr=cr; zi=ci
    for q in range(20):
      t=zr*zr-zi*zi+cr; zi=zr*zi+zr*zi+ci; zr=t
    o[i]=complex(zr,zi)
"""; o=np.empty(n,"complex64")
        try:
            fn=mk(s); t=time.perf_counter()
            args=a if o is None else (*a,o)
            fn(*args)
            if dt=="float32" and n==sizes(k)[0]: emit(backend=tag,threads=th,kernel=k,mode="first_call_compile",s=time.perf_counter()-t)
        except Exception as e:
            emit(backend=tag,threads=th,kernel=k,error=repr(e)[:300]); continue
        if o is None: rec(tag,th,k,dt,n,"fresh",lambda: fn(*a))
        else:
            rec(tag,th,k,dt,n,"out",lambda: fn(*a,o))
            sh,od=o.shape,o.dtype
            rec(tag,th,k,dt,n,"fresh",lambda: fn(*a,np.empty(sh,od)))

def w_torch(th):
    import torch, numpy as np
    torch.set_num_threads(th)
    class T:
        exp=staticmethod(torch.exp);log=staticmethod(torch.log);sqrt=staticmethod(torch.sqrt);tanh=staticmethod(torch.tanh)
        sin=staticmethod(torch.sin);cos=staticmethod(torch.cos);where=staticmethod(torch.where);expm1=staticmethod(torch.expm1)
    ks=kernels(T); ks["softmax"]=lambda a: torch.softmax(a,1)
    with torch.inference_mode():
        for k,n,dt in cases():
            a=[torch.from_numpy(v) for v in inputs(k,n,dt)]; f=ks[k]
            rec("torch-eager",th,k,dt,n,"fresh",lambda: f(*a))

def compile_one(k):
    import jax, jax.numpy as jnp, numpy as np
    jax.device_put(np.zeros(4,np.float32)).block_until_ready()   # init backend
    f=kernels(jnp)[k]
    if k=="mixed": f=lambda i,x,b: i.astype(jnp.float32)*x+b
    n={"softmax":0,"outer":0}.get(k,100000)
    a=[jax.device_put(v) for v in inputs(k,n if k!="mandel" else 1000000,"float32")]
    if os.environ.get("WARM"):
        jax.jit(lambda x: x-1)(a[0]).block_until_ready()
    j=jax.jit(f); t0=time.perf_counter(); lo=j.trace(*a).lower(); t1=time.perf_counter(); lo.compile(); t2=time.perf_counter()
    j2=jax.jit(lambda *z: f(*z)); t3=time.perf_counter(); j2(*a).block_until_ready(); t4=time.perf_counter()
    emit(backend="jax",kernel=k,mode="compile",warm=bool(os.environ.get("WARM")),trace_lower_s=t1-t0,compile_s=t2-t1,second_full_first_call_s=t4-t3,total_s=t2-t0)

def dispatch(b):
    import numpy as np
    x=np.arange(8,dtype=np.float32); y=x+1
    if b=="jax":
        import jax
        X,Y=jax.device_put(x),jax.device_put(y); j=jax.jit(lambda x,y:x+y*2); f=lambda: j(X,Y).block_until_ready()
        co=j.lower(X,Y).compile(); rec("jax-aot",1,"dispatch","float32",8,"fresh",lambda: co(X,Y).block_until_ready())
        rec("jax-eager",1,"dispatch","float32",8,"fresh",lambda: (X+Y*2).block_until_ready())
    elif b=="numpy": f=lambda: x+y*2
    elif b=="numexpr":
        import numexpr as ne; ne.set_num_threads(1); f=lambda: ne.evaluate("x+y*2",local_dict=dict(x=x,y=y))
        f(); rec("numexpr-re_evaluate",1,"dispatch","float32",8,"fresh",lambda: ne.re_evaluate(local_dict=dict(x=x,y=y)))
        c=ne.NumExpr("x+y*2",signature=[("x",np.float32),("y",np.float32)]); rec("numexpr-compiled",1,"dispatch","float32",8,"fresh",lambda: c(x,y))
    elif b=="torch":
        import torch; torch.set_num_threads(1); X,Y=torch.from_numpy(x),torch.from_numpy(y); f=lambda: X+Y*2
    else:
        import numba
        @numba.njit
        def g(x,y): 
            o=np.empty_like(x)
            for i in range(x.size): o[i]=x[i]+y[i]*2
            return o
        f=lambda: g(x,y)
        @numba.vectorize(["float32(float32,float32)"])
        def v(a,b): return a+b*numba.float32(2)
        rec("numba-ufunc",1,"dispatch","float32",8,"fresh",lambda: v(x,y))
    rec(b,1,"dispatch","float32",8,"fresh",f)

if __name__=="__main__":
    m=sys.argv[1]
    if m=="worker": globals()["w_"+sys.argv[2]](int(sys.argv[3]))
    elif m=="compile": compile_one(sys.argv[2])
    elif m=="dispatch": dispatch(sys.argv[2])
    elif m=="all":
        bs=sys.argv[2].split(",") if len(sys.argv)>2 else ["numpy","numexpr","jax","numba"]
        for th in (1,2):
            for b in bs:
                if b in("numpy",) and th==2: continue
                env=dict(os.environ); bb=b
                if b=="numba": env["NUMBA_DISABLE_INTEL_SVML"]="1"
                if b=="numbasvml": bb="numba"
                cmd=(["taskset","-c","0"] if th==1 else [])+[PY,__file__,"worker",bb,str(th)]
                subprocess.run(cmd,env=env)
    elif m=="compileall":
        for k in KERN:
            for w in ("","1"):
                subprocess.run([PY,__file__,"compile",k],env=dict(os.environ,WARM=w) if w else os.environ)
    elif m=="dispatchall":
        for b in ("numpy","numexpr","jax","numba","torch"): subprocess.run(["taskset","-c","0",PY,__file__,"dispatch",b])
