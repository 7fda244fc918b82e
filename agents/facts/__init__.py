"""Facts: what was said, read or seen, with where it came from; corrected by a newer revision, never forgotten.

Recording a fact achieves nothing by itself: goals are completed and fields filled by those who may.
"""
